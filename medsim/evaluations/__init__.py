"""Scores embeddings on pairs, and makes tables of the scores."""
