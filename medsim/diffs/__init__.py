"""Differences between two releases of a terminology and their datasets."""
