"""Words in context: instances and their rules, benchmarks, and models that answer them.

An instance is two sentences with a term in each; its label says whether both terms have the same
meaning there (Rouhizadeh et al. 2024, BioWiC).
"""

from __future__ import annotations

GROUPS = ("term_identity", "abbreviations", "synonyms", "label_similarity")
"""The groups of instances, by the similarity of the two terms; the first that applies is used."""

MAX_REPEATS = 100
"""The maximum occurrences of a sentence in train and dev of BioWiC together."""

SIMILARITY = 0.75
"""Terms of the group label_similarity have a higher ratio (Rouhizadeh et al. 2024)."""
