"""Words in context: instances and their rules, benchmarks, and models that answer them.

An instance is two sentences with a term in each; its label says whether both terms have the same
meaning there (Rouhizadeh et al. 2024, BioWiC).
"""

from __future__ import annotations

from typing import Literal, get_args

GROUPS = ("term_identity", "abbreviations", "synonyms", "label_similarity")
"""Kinds of likeness of the two terms of an instance; the first that applies is its group."""

Split = Literal["train", "dev", "test"]

SPLITS: tuple[str, ...] = get_args(Split)
"""The parts of a benchmark: to fit models on, to choose thresholds on, to report."""

MOST_REPEATS = 100
"""The most occurrences of a sentence in train and dev of BioWiC together."""
