"""Leaderboards: models of several evaluations, ranked by their headline scores."""
