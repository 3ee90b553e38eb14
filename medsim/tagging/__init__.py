"""Tagging of named entities: the extrinsic evaluation of word vectors.

A corpus has sentences, and a tag for each of their words. A small network that only sees the
vectors of a few words is trained on its train split, and the entities that it finds in the test
split are compared with the entities of the corpus (Collobert et al. 2011; Chiu et al. 2018).
"""
