"""Similarities of pairs of terms by systems without vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from medsim.core.errors import InputError, counted
from medsim.core.manifest import fingerprint
from medsim.core.progress import Progress
from medsim.core.tables import TextTable, unguarded
from medsim.embeddings.metrics import slices_of
from medsim.embeddings.objects import answer_to, answered_numbers
from medsim.kernels.types import Values
from medsim.systems.options import System
from medsim.systems.predictions import number_column, predicted_table

PREDICTED = "predicted"
"""The metric of every system."""

PREDICTED_MEANING = "the similarity that the system itself gives"
"""What this metric is, for help and reports."""

PAIR_TERMS = ("term1", "term2")
"""The columns of a pair."""

SIMILARITIES = (*PAIR_TERMS, "similarity")
"""The columns of a table of similarities."""

_BATCH = 512
_SAME = 1e-2  # of the range of the scores of a batch; rounding is less, even in half precision
_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPairs:
    """Pairs with their similarities by a system.

    Attributes:
        system: the system.
        fingerprint: SHA-256 of its file; without a file, of the pairs and their similarities.
        similarities: ``SIMILARITIES``, distinct pairs; null where the system gives none.
    """

    system: System
    fingerprint: str
    similarities: pl.DataFrame

    def of(self, pairs: pl.DataFrame, where: str, progress: Progress) -> pl.Series:
        """Return the similarities of pairs, Float32; null for none, with a warning.

        Args:
            pairs: ``PAIR_TERMS``.
            where: the pairs in a few words, such as "pairs of hpo".
            progress: receives the warning.
        """
        found = pairs.join(self.similarities, on=PAIR_TERMS, how="left", maintain_order="left")
        if n_missing := found["similarity"].null_count():
            of_all = f"{n_missing:,} of {pairs.height:,} {where}"
            progress.warn(f"{self.system.name} has no similarity for {of_all}")
        return found["similarity"].cast(pl.Float32)


def score_pairs(
    system: System, pairs: pl.DataFrame, progress: Progress, *, known: pl.DataFrame | None
) -> ScoredPairs:
    """Return pairs with their similarities by a system, from its table or by calling it.

    Args:
        system: the system.
        pairs: ``PAIR_TERMS``, distinct.
        progress: receives the stage.
        known: ``PAIR_TERMS``, all pairs that a table may have; None if it may have any.

    Raises:
        InputError: the table cannot be read, has another pair, or a pair with two similarities; or
            see ``pair_scores``.
    """
    with progress.stage(f"score {pairs.height:,} pairs with {system.name}") as stage:
        if system.has_table:
            table = predicted_table(system, SIMILARITIES)
            progress.warn(*table.warnings)
            similarities = _tabled(table, known)
            digest = table.sha256
        else:
            stage.total(pairs.height)
            scores = pl.Series(pair_scores(system, pairs.rows(), stage.advance))
            similarities = pairs.with_columns(similarity=scores.fill_nan(None))
            digest = fingerprint(similarities)
        stage.note(digest[:12])
    return ScoredPairs(system=system, fingerprint=digest, similarities=similarities)


def _tabled(table: TextTable, known: pl.DataFrame | None) -> pl.DataFrame:
    """Return ``SIMILARITIES`` of the pairs of a table, in both orders of their terms.

    A row is of both orders, unless the table has the other one too. A pair may have several rows of
    equal similarity, as it may be in several datasets.
    """
    rows = table.frame.with_columns(
        pl.col(PAIR_TERMS).map_elements(unguarded, pl.String),
        similarity=number_column(table, "similarity"),
    ).with_columns(pair=pl.format("{} | {}", *PAIR_TERMS))
    table = replace(table, frame=rows)
    first = pl.col("similarity").first().over(PAIR_TERMS)
    is_other = rows.select(pl.col("similarity").ne_missing(first)).to_series()
    table.refuse(is_other, "pair", "is given again, with another similarity")
    if known is not None:
        both = _in_both_orders(known.with_columns(is_known=True))
        found = rows.join(both, on=PAIR_TERMS, how="left", maintain_order="left")["is_known"]
        table.refuse(found.is_null(), "pair", "is not a pair of any input")
    return _in_both_orders(rows.select(SIMILARITIES))


def _in_both_orders(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return pairs, and after them those with their terms in the other order, each once."""
    turned = pairs.rename(dict(zip(PAIR_TERMS, reversed(PAIR_TERMS), strict=True)))
    both = pl.concat([pairs, turned.select(pairs.columns)])
    return both.unique(PAIR_TERMS, keep="first", maintain_order=True)


def pair_scores(
    system: System, pairs: Sequence[tuple[str, str]], advance: Callable[[int], None]
) -> Values:
    """Return the score of each pair of texts by a Python object: float64[n_pairs], NaN for none.

    The last, middle and first pairs of each batch are scored again, in this order.

    Args:
        system: an object with ``predict``, or a function.
        pairs: pairs of texts.
        advance: is called with the number of pairs done since the last call.

    Raises:
        InputError: the system fails, does not return a finite number or None for each pair, or
            returns another number for a pair in another batch.
    """
    scores = np.empty(len(pairs))
    for part in slices_of(len(pairs), _BATCH):
        scores[part] = _answers_to(system, pairs[part])
        _check_repeated(system, pairs[part], scores[part])
        advance(part.stop - part.start)
    return scores


def _check_repeated(system: System, pairs: Sequence[tuple[str, str]], scores: Values) -> None:
    """Raise InputError if a pair has another score in another batch."""
    probed = [*dict.fromkeys([len(pairs) - 1, len(pairs) // 2, 0])]
    again = _answers_to(system, [pairs[at] for at in probed])
    near = _SAME * np.ptp(np.nan_to_num(scores))
    is_same = np.isclose(again, scores[probed], _ROUNDING, near, equal_nan=True)
    for at in np.flatnonzero(~is_same)[:1]:
        raise InputError(
            f"{_label(system)} returned a different score for {pairs[probed[at]]} in another "
            "batch; scores must depend on the pair alone. Is the model in training mode?"
        )


def _label(system: System) -> str:
    return f"system {system.name!r} ({system.location})"


def _answers_to(system: System, pairs: Sequence[tuple[str, str]]) -> Values:
    """Return the scores of a batch: float64[n_pairs]."""
    given, label = system.source, _label(system)
    batch = f"{counted(len(pairs), 'pair')}, {pairs[0]} the first"
    if system.form == "pair":
        answer = answer_to(lambda: [given(*pair) for pair in pairs], label, batch)
    else:
        ask = given.predict if system.form == "predict" else given
        answer = answer_to(lambda: ask([*pairs]), label, batch)
    if isinstance(answer, list):
        types = {*map(type, answer)} - {type(None)}
        kind = object if bool in types and len(types) > 1 else None  # else True would be 1
        answer = np.array([np.nan if score is None else score for score in answer], kind)
    if getattr(answer, "dtype", None) == np.bool_:  # of a rule
        answer = answer.astype(np.float64)
    scores = answered_numbers(answer, label, "a number for each pair")
    if scores.shape not in {(len(pairs),), (len(pairs), 1)}:
        expected = f"expected a number for each of {batch}"
        raise InputError(f"{label} returned an array of shape {scores.shape}; {expected}")
    for at in np.flatnonzero(np.abs(scores) > np.finfo(np.float32).max)[:1]:
        raise InputError(f"{label}: the score of {pairs[at]} is too large")
    return scores.ravel().astype(np.float64)
