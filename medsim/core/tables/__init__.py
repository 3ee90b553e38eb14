"""Small tables that users made, in whatever form: one reader of them all."""
