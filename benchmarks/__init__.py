"""Benchmarks: each file registers one function that measures, except run.py and entered.py."""
