"""Terminologies: reads sources into canonical tables, and writes and invents releases."""
