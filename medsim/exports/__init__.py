"""Exports of builds and splits to the files that other tools read."""
