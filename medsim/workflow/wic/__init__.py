"""Words in context: benchmarks built, checked, and models scored on them."""
