"""Maps local names to the concepts of a standard terminology, with people deciding."""
