"""Agreement of annotators and raters, and what their answers add up to."""
