"""Audits of a terminology's names: near-duplicates, shared names, malformed names, chains."""
