"""Checks of a benchmark of words in context, a rule at a time."""
