"""Benchmarks: each file registers one function that measures; run.py and entered.py do not."""
