"""The page that reports an evaluation, section by section."""
