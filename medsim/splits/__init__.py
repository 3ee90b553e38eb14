"""Splits without leaks: a build shared out so that nothing of one split is linked to another."""
