"""Pages that are one file: their parts, charts and HTML."""
