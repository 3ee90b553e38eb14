"""Tables of an evaluation, those of the papers among them."""
