"""Tagging of named entities by windows of word vectors: the extrinsic evaluation of word vectors.

A corpus has sentences, and a tag for each word of them. A small network that sees nothing but the
vectors of a few words is trained on its train split, and the entities that it finds in the test
split are compared with those of the corpus (Collobert et al. 2011; Chiu et al. 2018).
"""

from __future__ import annotations

SPLITS = ("train", "dev", "test")
"""The parts of a corpus: to train on, to choose when training stops, to report."""
