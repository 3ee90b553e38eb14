"""Words in context: what an instance is, which rules it obeys, how models are asked.

An instance is two sentences with a term in each; its label says whether both terms have the same
meaning there (Rouhizadeh et al. 2024, BioWiC).
"""

from __future__ import annotations

GROUPS = ("term_identity", "abbreviations", "synonyms", "label_similarity")
"""What the two terms of an instance have in common; the first that holds is its group."""

SPLITS = ("train", "dev", "test")
"""The parts of a benchmark: to fit models on, to choose thresholds on, to report."""

HUMAN_ACCURACY = 0.80
"""What people reach on BioWiC (Rouhizadeh et al. 2024)."""
