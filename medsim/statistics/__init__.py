"""Statistics of similarities: scores with confidence intervals, and significance tests."""
