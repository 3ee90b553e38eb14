"""From mentions in corpora to the instances of a benchmark and their splits."""
