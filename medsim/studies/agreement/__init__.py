"""Agreement of annotators and raters, majority votes and mean ratings."""
