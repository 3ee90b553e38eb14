"""From embeddings and pairs to scores, and to tables of them."""
