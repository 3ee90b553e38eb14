"""Similarity metrics: one module a family, each of which compares pairs of embedded terms."""
