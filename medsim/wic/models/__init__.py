"""Models of words in context, their data and their answers."""
