"""Words to make pairs of: their forms, frequencies, domains and associations."""
