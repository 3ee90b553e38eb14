"""Words to make pairs of: how often they are used, what is no word, and what goes with what."""
