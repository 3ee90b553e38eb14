"""The search for the nearest terms by edit distance, in any list of terms."""
