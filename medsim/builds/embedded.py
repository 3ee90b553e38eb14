"""Finds the embedding for embedding negatives, and embeds the terms of a build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.builds.negatives import IndexedVectors
from medsim.core.errors import InputError, OptionError
from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import NamedEmbedding, embed_terms, identify, with_fingerprint
from medsim.embeddings.metrics import Workers
from medsim.embeddings.metrics.averages import cosines, points_of
from medsim.embeddings.objects import KnownVectors
from medsim.embeddings.options import OBJECT, embedding_spec, parse_options, wrap
from medsim.kernels.types import Ids

if TYPE_CHECKING:
    from medsim.builds.output import Build
    from medsim.builds.positives import Derived
    from medsim.embeddings.options import EmbeddingLike, EmbeddingOptions, EmbeddingSpec

_LOCATION_OPTIONS = ("format", "vocabulary")  # options that may change when an embedding is moved


def embedding_of(
    build: Build, moved: EmbeddingLike | None, progress: Progress
) -> NamedEmbedding | None:
    """Return the embedding of a build's negatives; None if it has none.

    Its fingerprint may be empty; see ``with_checked_fingerprint``.
    """
    if "embedding" not in build.strategies:
        if moved is not None:
            raise OptionError(f"`embedding` {moved!r}: {build.folder} has no embedding negatives")
        return None
    identity: Any = build.manifest.options["embedding"]
    location = build.manifest.embedding or {}
    name, was_object = identity["name"], location["format"] == OBJECT
    if moved is None and was_object:
        raise InputError(
            f"{build.folder}: the embedding of its negatives was a Python object, {name!r} "
            f"({location['path']}); pass it again as `embedding`"
        )
    moved = wrap(f"{name}={location['path']}" if moved is None else moved, "`embedding`")
    spec = embedding_spec(moved, None if isinstance(moved, (str, Path)) else moved.name or name)
    if spec.name != name:
        raise OptionError(f"`embedding` {moved!r}: the embedding of the build is named {name!r}")
    old_location = {} if was_object else location
    spec = replace(spec, options=_read_as_before(spec, identity["options"], old_location))
    if isinstance(spec.place, Path) and not spec.place.exists():
        raise InputError(
            f"{spec.place}, the embedding of the negatives, does not exist; give its new "
            f"path with `embedding` {name}=PATH"
        )
    embedding = identify(spec, progress)
    if embedding.fingerprint:
        check_same(build, embedding)
    return embedding


def check_same(build: Build, embedding: NamedEmbedding) -> None:
    """Raise InputError unless an embedding is the one of a build."""
    identity: Any = build.manifest.options["embedding"]
    if embedding.fingerprint == identity["fingerprint"]:
        return
    name, hashed = embedding.spec.name, "files"
    hint = f"give the right one with `embedding` {name}=PATH"
    if embedding.source.identity is not None:
        hashed, hint = "vectors", "give the right one with `embedding`"
        if isinstance(embedding.source, KnownVectors):
            hint = (
                "a model that rounds differently on other machines needs a version when it builds"
            )
    raise InputError(
        f"{embedding.source.location} is not the embedding that the build was made with: the "
        f"SHA-256 of its {hashed} is {embedding.fingerprint}, not {identity['fingerprint']}; {hint}"
    )


def with_checked_fingerprint(
    build: Build, embedding: NamedEmbedding, derived: Derived, progress: Progress, threads: int
) -> NamedEmbedding:
    """Return the embedding of a build after checking its fingerprint."""
    if not embedding.fingerprint:
        embedding = with_fingerprint(embedding, derived.pair_terms(), progress, threads=threads)
        check_same(build, embedding)
    return embedding


def _read_as_before(
    spec: EmbeddingSpec, options: Mapping[str, str], location: Mapping[str, str]
) -> EmbeddingOptions:
    """Return the options that a build read its embedding with, and its current location."""
    chosen, deciding = spec.options.chosen(), spec.options.deciding()
    for option, value in deciding.items():
        if options.get(option) != value:
            before = options.get(option, "its default")
            raise OptionError(f"`embedding`: {option}={value}, but the build read it with {before}")
    current = {k: v for k, v in {**location, **chosen}.items() if k in _LOCATION_OPTIONS}
    current |= {k: v for k, v in chosen.items() if k not in (*deciding, *_LOCATION_OPTIONS)}
    return parse_options({**options, **current})


def embed_pair_terms(
    model: NamedEmbedding, derived: Derived, progress: Progress, *, threads: int, cache: Path | None
) -> IndexedVectors:
    """Return the vectors of all terms that can be in a pair, also of parent_child.

    A term's word vectors are averaged, as in the metric avg_cos. Vectors of encoders are cached in
    the folder ``cache``.
    """
    positives = derived.positives
    related = positives.parent_child.select("term1_id", "term2_id").to_numpy()
    term_ids = np.union1d(derived.pair_term_ids(), related).astype(np.int32)
    terms = positives.terms["term"].gather(term_ids).to_list()
    result = embed_terms(model, terms, progress, threads=threads, cache=cache)
    covered = np.flatnonzero(result.covered).astype(np.int32)
    rows = np.full(len(derived.index.components), -1, np.int32)
    rows[term_ids[covered]] = np.arange(len(covered), dtype=np.int32)
    vectors = points_of(result.embedded, covered, Workers(threads=threads))
    return IndexedVectors(vectors=vectors, rows=rows)


def pair_cosines(
    embedding: IndexedVectors, left_ids: Ids, right_ids: Ids, threads: int
) -> pl.Series:
    """Return the cosine of each pair of terms, both int32[n_pairs]; null without a vector."""
    left, right = embedding.rows[left_ids], embedding.rows[right_ids]
    have_vectors = (left >= 0) & (right >= 0)
    similarity = np.full(len(left), np.nan, np.float32)
    similarity[have_vectors] = cosines(
        embedding.vectors, left[have_vectors], right[have_vectors], threads
    )
    return pl.Series("similarity", similarity, pl.Float32).fill_nan(None)
