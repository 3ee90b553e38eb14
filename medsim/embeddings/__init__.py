"""Embeddings: where their vectors come from, how they are read, and metrics of them."""
