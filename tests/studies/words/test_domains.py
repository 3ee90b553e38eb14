"""Biomedical and general words."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.core.tables.text import guarded
from medsim.studies.words.domains import by_list, by_ratio, frequency_correlation, read_domains
from medsim.studies.words.forms import Forms
from medsim.studies.words.norms import read_confirmed

COUNTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 60), min_size=1)


def frame(counts: dict[str, int]) -> pl.DataFrame:
    columns = {"word": list(counts), "count": list(counts.values())}
    return pl.DataFrame(columns, schema={"word": pl.String, "count": pl.Int64})


def test_listed_words_are_biomedical_and_the_others_general() -> None:
    found = by_list(frame({"gene": 1, "house": 1}), {"gene", "absent"})
    assert found["domain"].to_list() == ["biomedical", "general"]


@given(COUNTS, COUNTS, st.integers(1, 6))
def test_a_domain_is_told_by_the_smoothed_ratio_of_relative_frequencies(
    here: dict[str, int], there: dict[str, int], ratio: int
) -> None:
    types = len(here.keys() | there.keys())

    found = by_ratio(frame(here), frame(here), frame(there), float(ratio))

    for word, domain in found.select("word", "domain").iter_rows():
        ours = Fraction(here[word] + 1, sum(here.values()) + types)
        times = ours / Fraction(there.get(word, 0) + 1, sum(there.values()) + types)
        if times in (ratio, Fraction(1, ratio)):
            continue  # rounding may go either way
        expected = (
            "biomedical" if times > ratio else "general" if times < Fraction(1, ratio) else None
        )
        assert domain == expected


@given(COUNTS, COUNTS)
def test_the_correlation_of_frequencies_is_that_of_scipy(
    here: dict[str, int], there: dict[str, int]
) -> None:
    sides = [list(here.values()), [there.get(word, 0) for word in here]]

    found = frequency_correlation(frame(here), frame(there))

    if min(len(set(side)) for side in sides) < 2:
        assert found is None
    else:
        assert found == pytest.approx(stats.spearmanr(*sides).statistic)


def test_words_that_spreadsheets_would_change_are_read_as_they_were(tmp_path: Path) -> None:
    forms = Forms(counts={}, given={}, lemma_of=str)
    told = guarded("true")
    assert told != "true"
    (tmp_path / "domains.csv").write_text(f"word,domain\n{told},general\n")
    assert read_domains(tmp_path / "domains.csv", forms)["word"].to_list() == ["true"]

    (tmp_path / "confirmed.csv").write_text(f"term1,term2\n{told},gene\n")
    words = pl.DataFrame({"word": ["true", "gene"], "word_id": [0, 1]})
    assert read_confirmed(tmp_path / "confirmed.csv", forms, words).height == 1
