"""Models of words in context: what they are fitted on and what they answer."""
