"""Samples pairs for people to judge or rate, and scores their answers."""
