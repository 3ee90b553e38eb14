"""Samples pairs for people to judge or rate, and scores what they answered."""
