"""Embeddings: sources of vectors, readers of formats, and metrics."""
