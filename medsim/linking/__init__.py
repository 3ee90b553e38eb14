"""Entity linking: mentions of corpora looked up among the names of a terminology."""
