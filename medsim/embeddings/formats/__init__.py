"""One module a format of embeddings, each registered by name."""
