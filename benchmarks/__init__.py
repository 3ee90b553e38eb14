"""Benchmarks: each file but run.py registers one function that measures and returns what it saw."""
