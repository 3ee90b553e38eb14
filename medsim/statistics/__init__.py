"""Statistics of similarities: scores with their intervals, and tests of differences."""
