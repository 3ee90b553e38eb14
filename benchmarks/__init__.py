"""Benchmarks: each file but run.py registers one function that returns its measurements."""
