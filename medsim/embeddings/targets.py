"""Cuts sentences into tokens such that a stretch of each, its target, is among those read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A stretch of a sentence."""

    sentence: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The tokens of a sentence that a model reads.

    Attributes:
        tokens: as the library tokenizers gives them, with ``ids`` and ``type_ids``.
        within: bool[n_tokens], whether a token has a character of the target; none has where the
            tokenizer drops all that the target consists of.
        is_cut: whether the target is longer than what the model reads, so that its end is missing.
    """

    tokens: Any
    within: Flags
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetVectors:
    """Vectors of targets, zeros where one has no token.

    Targets with a token are ``covered``; those longer than what the model reads are ``cut``.
    """

    vectors: Vectors
    covered: Flags
    cut: Flags


def read_target(tokenizer: Any, prefix: str, target: Target) -> Reading:
    """Return the tokens of a sentence, of a long one those around the target.

    A sentence of which the model does not read the whole target is cut to as many tokens as it
    reads, with the middle of the target in their middle where the sentence goes on to both sides,
    and to its beginning where the target alone is too long.

    The tokenizer, of the library tokenizers, counts code points and truncates to what the model
    reads, with a stride of 0, so that no token is in two parts of what it gives.
    """
    shift = len(prefix)
    whole = tokenizer.encode(prefix + target.sentence)
    begin, end = shift + target.start, shift + target.end
    spans = sorted(span for part in (whole, *whole.overflowing) for span in _spans(part))
    own = [at for at, span in enumerate(spans) if _meets(span, begin, end)]
    within = _within(whole, begin, end)
    n_before = sum(span[1] <= shift for span in spans)  # tokens of the prefix, which stays
    n_read = len(_spans(whole)) - n_before
    if within.sum() == len(own) or n_read < 1:
        return Reading(tokens=whole, within=within, is_cut=bool(within.sum() < len(own)))
    middle = (own[0] + own[-1] + 1 - n_read) // 2
    first = max(n_before, min(middle, own[0], len(spans) - n_read))
    window = spans[first : first + n_read]
    moved = max(0, window[0][0] - shift)
    cut = tokenizer.encode(prefix + target.sentence[moved : window[-1][1] - shift])
    within = _within(cut, begin - moved, end - moved)
    return Reading(tokens=cut, within=within, is_cut=bool(within.sum() < len(own)))


def _spans(part: Any) -> list[tuple[int, int]]:
    """Return where each token begins and ends in the text, without those that mark its ends."""
    marks = part.special_tokens_mask
    return [span for span, mark in zip(part.offsets, marks, strict=True) if not mark]


def _within(part: Any, begin: int, end: int) -> Flags:
    """Return which tokens have a character of a stretch of the text."""
    meets = [_meets(span, begin, end) for span in part.offsets]
    return np.array(meets, np.bool_) & ~np.array(part.special_tokens_mask, np.bool_)


def _meets(span: tuple[int, int], begin: int, end: int) -> bool:
    return span[0] < end and begin < span[1]
