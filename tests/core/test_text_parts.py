"""Columns of texts as bytes."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest

from medsim.core import canonical as module
from medsim.core.canonical import text_parts
from medsim.core.manifest import fingerprint
from medsim.core.terms import pack

TEXTS = ["", "a", "caf\u00e9", "b\U0001d4b3", "a text that is longer than a view of it", "", "z"]


@pytest.mark.parametrize("n_texts", [1, 2, 3, 100])
def test_parts_of_a_column_have_all_its_texts(
    n_texts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = pl.Series(TEXTS, dtype=pl.String)
    whole, packed = fingerprint(pl.DataFrame({"text": column})), pack(column)
    monkeypatch.setattr(module, "_TEXTS", n_texts)
    assert not list(text_parts(pl.Series([], dtype=pl.String)))
    result = [
        bytes(text[begin - starts[0] : end - starts[0]]).decode()
        for starts, text in text_parts(column)
        for begin, end in pairwise(starts)
    ]
    assert result == TEXTS
    assert fingerprint(pl.DataFrame({"text": column})) == whole
    assert pack(column).codes.tolist() == packed.codes.tolist()
    assert pack(column).starts.tolist() == packed.starts.tolist()
