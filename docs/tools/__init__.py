"""Tools that make the documentation's site, besides Zensical."""
