"""Tables of rated sets, of coverage and of vocabularies, compared with counts by hand."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from fixtures.embeddings import write_words
from scipy import stats

import medsim
from medsim.core.shown import MISSING
from medsim.evaluations.output import COVERAGE
from medsim.evaluations.readable import readable_coverage, readable_tables, why_missing_in

RATED = """term 1,term 2,mesh 1,mesh 2,score
renal failure,kidney,D1,D2,0.5
heart,Überbein,D1,D2,0.25
heart,skin rash of hand,D1,D2,1
"""
PLAIN = "term1,term2,rating\nheart,kidney,3\nskin,rash,9\nhand,of,1\n"
DATA = os.environ.get("MEDSIM_DATA")
VOCABULARIES = {
    "one": ["heart", "kidney", "renal", "failure", "skin", "Skin"],
    "two": ["heart", "Überbein", "skin", "rash", "of", "hand", "ß", "unused"],
    "three": ["heart", "unused"],
}
SHARED = {("one", "two"): 2, ("one", "three"): 1, ("two", "three"): 2}  # numbers of shared words


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "hlia.csv").write_text(RATED, encoding="utf-8")
    (folder / "own.csv").write_text(PLAIN, encoding="utf-8")
    for seed, (name, words) in enumerate(VOCABULARIES.items()):
        write_words(folder / f"{name}.vec", words, seed)
    return folder


def evaluate(data: Path, *names: str) -> medsim.Evaluation:
    embeddings = {name: data / f"{name}.vec" for name in names}
    inputs = [data / "hlia.csv", data / "own.csv"]
    return medsim.evaluate(inputs, embeddings, data / "results", metrics=["avg_cos"], resamples=100)


@pytest.fixture(scope="module")
def evaluation(data: Path) -> medsim.Evaluation:
    evaluate(data, "one", "two")
    return evaluate(data, "three")  # the vocabularies of the others are kept


def test_rated_sets_have_their_scale_origin_and_share_of_multi_word_terms(evaluation) -> None:
    rows = medsim.compare(evaluation, "rated")

    assert rows.rows() == [
        ("hlia", 3, 0.0, 1.0, "MeSH", 2 / 6, None, None, None),
        ("own", 3, None, None, None, 0.0, None, None, None),
    ]
    (shown,) = readable_tables(rows)
    assert shown.row(0) == ("hlia", 3, "0", "1", "MeSH", "33.3%")


def test_rated_sets_have_rater_agreement_if_the_file_has_raters(data: Path, tmp_path: Path) -> None:
    rows = [f"heart,kidney {at},{at % 3},{at % 4}" for at in range(12)]
    (tmp_path / "two.csv").write_text("\n".join(["a,b,one,two", *rows]))
    inputs = [data / "own.csv", f"{tmp_path / 'two.csv'},term1=a,term2=b,rater=one,rater=two"]
    embeddings = {"one": data / "one.vec"}
    out = medsim.evaluate(inputs, embeddings, tmp_path / "out", metrics=["avg_cos"], resamples=100)

    table = medsim.compare(out, "rated")

    agreed = stats.spearmanr([at % 3 for at in range(12)], [at % 4 for at in range(12)]).statistic
    assert table.select("raters", "iaa1", "iaa2").row(0) == (None, None, None)
    assert table.row(1, named=True)["raters"] == 2
    assert table.select("iaa1", "iaa2").row(1) == pytest.approx((agreed, agreed))
    (shown,) = readable_tables(table)
    assert shown.row(0)[-3:] == (MISSING, MISSING, MISSING)
    assert shown.row(1)[-3:] == ("2", f"{agreed:.3f}", f"{agreed:.3f}")
    why = "no raters or iaa1 or iaa2 where a file lacks the ratings of each rater"
    assert why_missing_in(table, [shown]) == why


@pytest.mark.skipif(DATA is None, reason="MEDSIM_DATA is not set")
def test_published_sets_have_the_sizes_and_shares_of_the_paper(data: Path, tmp_path: Path) -> None:
    folder = Path(str(DATA), "ratings")
    names = ["Hliaoutakis2005_mesh", "MiniMayoSRS_mesh", "MayoSRS_mesh", "UMNSRS_sim_mod_mesh"]
    files = [*(folder / f"{name}.csv" for name in names), folder / "Bio-SimVerb.txt"]
    out = medsim.evaluate(files, {"one": data / "one.vec"}, tmp_path / "out", resamples=100)

    rows = medsim.compare(out, "rated")

    shares = rows["multi_word"].to_list()
    assert dict(zip(rows["input"], (round(100 * share) for share in shares), strict=True)) == {
        "Bio-SimVerb": 0,
        "Hliaoutakis2005_mesh": 47,
        "MayoSRS_mesh": 44,
        "MiniMayoSRS_mesh": 47,
        "UMNSRS_sim_mod_mesh": 0,
    }
    assert rows["size"].to_list() == [1000, 36, 101, 29, 449]


def test_a_pair_is_out_of_vocabulary_if_any_of_its_words_is(evaluation) -> None:
    rows = medsim.compare(evaluation, "coverage")

    counts = rows.select("input", "embedding", "n_pairs", "n_pairs_oov", "n_vocabulary").rows()
    assert set(counts) == {
        *(("hlia", "one", 3, 2, 6), ("hlia", "two", 3, 1, 8), ("hlia", "three", 3, 3, 2)),
        *(("own", "one", 3, 2, 6), ("own", "two", 3, 1, 8), ("own", "three", 3, 3, 2)),
    }
    assert readable_tables(rows)[0].rows() == [
        ("one", 6, 6, "33.3–33.3%"),  # noqa: RUF001 — an en dash
        ("three", 2, 6, "0.0–0.0%"),  # noqa: RUF001
        ("two", 8, 6, "66.7–66.7%"),  # noqa: RUF001
    ]


def test_coverage_ranges_from_the_least_to_the_most_covered_set() -> None:
    common = {"embedding": "one", "n_pairs": 10}
    rows = [
        common | {"input": "a", "n_pairs_oov": 4},
        common | {"input": "b", "n_pairs_oov": 1},
        *(common | {"input": "c", "difficulty": "easy", "n_pairs_oov": n} for n in (9, 2, 5)),
    ]
    frame = pl.DataFrame(rows, schema=COVERAGE.dtypes).with_columns(
        n_vocabulary=pl.lit(7), n_dimensions=pl.lit(3)
    )

    assert readable_coverage(frame).rows() == [
        ("one", 7, 3, "60.0–90.0%", "10.0–80.0%")  # noqa: RUF001 — en dashes
    ]


def test_whole_vocabularies_are_compared_in_both_directions(evaluation) -> None:
    overlap = medsim.compare(evaluation, "overlap")

    whole = overlap.filter(of="vocabulary")
    both = dict(SHARED)
    both |= {(other, name1): n for (name1, other), n in SHARED.items()}
    assert whole.height == 3
    for row in whole.iter_rows(named=True):
        name1, other = row["embedding1"], row["embedding2"]
        assert row["n_both"] == both[name1, other]
        assert (row["n1"], row["n2"]) == (len(VOCABULARIES[name1]), len(VOCABULARIES[other]))
    table = readable_tables(overlap)[0]
    assert table.columns == ["embedding", "one", "three", "two", "average"]
    for row in table.iter_rows(named=True):
        name = row["embedding"]
        shares = {
            other: 100 * both[name, other] / len(words)
            for other, words in VOCABULARIES.items()
            if other != name
        }
        assert row[name] is None
        assert {other: row[other] for other in shares} == {
            other: f"{share:.2f}" for other, share in shares.items()
        }
        assert row["average"] == f"{sum(shares.values()) / len(shares):.2f}"
