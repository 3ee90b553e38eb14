"""Services that are asked over HTTP: for vectors, and for the answers of language models."""
