"""Exports: builds and their splits in the files that other tools read."""
