"""Splits builds without data leakage: nothing in one split is linked to another."""
