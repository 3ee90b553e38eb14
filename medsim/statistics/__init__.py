"""What similarities of pairs show: scores, and how far they can be told apart."""
