"""What makes the site of the documentation, beside Zensical."""
