"""Category separation of a build under word embeddings, against loops over triples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.categories import WORDS, categorised_release
from fixtures.embeddings import write_words
from oracles.metrics import METRICS as TWINS

import medsim
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.core.output import claimed
from medsim.core.progress import Progress
from medsim.embeddings import find_format
from medsim.embeddings.embedded_terms import EmbeddedTerms, NamedEmbedding, embed_terms
from medsim.embeddings.metrics import METRICS, Metric, WordBags, metrics_of
from medsim.embeddings.metrics.workers import Workers
from medsim.embeddings.options import parse_embedding
from medsim.evaluations.categories import Categories, categories_of
from medsim.evaluations.layout import EvaluationFiles, separation_path
from medsim.evaluations.output import EVALUATION, SEPARATION_COLUMNS
from medsim.evaluations.separation import separation_of, write_separation

NEAR = 1e-6  # single precision moves a similarity by less
OF_WORDS = metrics_of(WordBags)


@pytest.fixture(scope="module")
def categories(tmp_path_factory: pytest.TempPathFactory) -> Categories:
    folder = tmp_path_factory.mktemp("separation")
    release = categorised_release(2, 60).write_zip(folder / "release.zip", "Snapshot")
    return categories_of(medsim.build(release, folder / "build", negatives=["random"]), None, 1)


@pytest.fixture(scope="module")
def has(categories: Categories, tmp_path_factory: pytest.TempPathFactory) -> EmbeddedTerms:
    """Terms as an embedding has them that knows most words; two of its words are one vector."""
    draw = np.random.default_rng(6)
    vectors = {word: draw.normal(size=7).round(3).tolist() for word in WORDS[:-2]}
    vectors["dar"] = vectors["bim"]
    path = tmp_path_factory.mktemp("embedding") / "words.vec"
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items()]
    path.write_text(f"{len(lines)} 7\n{''.join(lines)}")
    spec = parse_embedding(f"words={path}")
    name, found = find_format(spec.path, spec.options)
    named = NamedEmbedding(spec=spec, format_name=name, format=found, fingerprint="")
    terms = sorted([*categories.terms(), "another term"])
    return embed_terms(named, terms, Progress(), threads=1, cache=None)


@contextmanager
def new_files(folder: Path) -> Iterator[EvaluationFiles]:
    with claimed(folder / "results", EVALUATION, overwrite=False) as output:
        output.resume({})
        yield EvaluationFiles(output=output, metadata={})


def written(
    categories: Categories,
    has: EmbeddedTerms,
    folder: Path,
    workers: Workers = Workers(threads=1),  # noqa: B008 — is never changed
    metrics: dict[str, Metric] = OF_WORDS,
) -> tuple[pl.DataFrame, int]:
    """Return the table of all metrics, and how many terms have no vector."""
    with new_files(folder) as files:
        n_uncovered = write_separation("build", "words", has, categories, metrics, files, workers)
        table = separation_of("build", ["none", "words"], files, "{} {} {}".format)
    return table, n_uncovered


@pytest.fixture(scope="module")
def table(
    categories: Categories, has: EmbeddedTerms, tmp_path_factory: pytest.TempPathFactory
) -> pl.DataFrame:
    return written(categories, has, tmp_path_factory.mktemp("written"))[0]


def covered_terms(categories: Categories, has: EmbeddedTerms) -> dict[str, dict[str, np.ndarray]]:
    """Return the word vectors of every covered term, by category."""
    bags, rows = has.embedded, has.terms["term"].to_list()
    assert isinstance(bags, WordBags)
    of = {
        term: bags.vectors[bags.words[bags.starts[row] : bags.starts[row + 1]]]
        for row, term in enumerate(rows)
    }
    return {
        one.name: {term: of[term] for term in one.terms if len(of[term])}
        for one in categories.categories
    }


@pytest.mark.parametrize("metric", list(OF_WORDS))
def test_errors_and_means_are_those_of_a_loop_over_triples(
    metric: str, table: pl.DataFrame, categories: Categories, has: EmbeddedTerms
) -> None:
    terms = covered_terms(categories, has)
    every = {term: vectors for some in terms.values() for term, vectors in some.items()}
    sim = {(a, b): TWINS[metric](every[a], every[b]) for a, b in combinations(every, 2)}
    sim |= {(b, a): similarity for (a, b), similarity in sim.items()}
    rows = {
        (row["category1"], row["category2"]): row
        for row in table.filter(metric=metric).iter_rows(named=True)
    }
    assert len(rows) == 10
    n_ties = 0
    for x, y in product(terms, repeat=2):
        row = rows[x, y]
        assert (row["n_terms1"], row["n_terms2"]) == (len(terms[x]), len(terms[y]))
        pairs = list(combinations(terms[x], 2)) if x == y else list(product(terms[x], terms[y]))
        mean = sum(sim[pair] for pair in pairs) / len(pairs)
        assert row["mean_similarity"] == pytest.approx(mean, abs=NEAR)
        if x == y:
            assert row["n_triples"] is row["n_errors"] is row["overlap_error"] is None
            continue
        triples = [
            (sim[a, b], sim[a, c]) for a in terms[x] for b in terms[x] if a != b for c in terms[y]
        ]
        errors = sum(inner - outer <= NEAR for inner, outer in triples)
        n_ties += sum(abs(inner - outer) <= NEAR for inner, outer in triples)
        # What is mathematically equal ties, but for zeros, of which rounding leaves different bits.
        zeros = sum(abs(inner) + abs(outer) <= NEAR for inner, outer in triples)
        assert errors - zeros <= row["n_errors"] <= errors
        assert row["n_triples"] == len(triples)
        assert row["overlap_error"] == row["n_errors"] / len(triples)
    assert n_ties > 20
    across = [row for (x, y), row in rows.items() if x != y]
    overall = rows[None, None]
    assert overall["n_terms1"] == len(every)
    assert overall["n_triples"] == sum(row["n_triples"] for row in across)
    assert overall["n_errors"] == sum(row["n_errors"] for row in across)
    assert overall["overlap_error"] == overall["n_errors"] / overall["n_triples"]
    assert overall["n_terms2"] is overall["mean_similarity"] is None


def test_the_table_has_the_columns_of_its_contract(table: pl.DataFrame) -> None:
    assert dict(table.schema) == {
        name: kind if isinstance(kind, pl.DataType) else kind()
        for name, kind in SEPARATION_COLUMNS.items()
    }
    assert table["metric"].unique(maintain_order=True).to_list() == list(OF_WORDS)
    assert table.select("input", "embedding").unique().rows() == [("build", "words")]
    assert table["signature"].to_list() == [f"build words {one}" for one in table["metric"]]


def test_nothing_depends_on_threads(
    table: pl.DataFrame, categories: Categories, has: EmbeddedTerms, tmp_path: Path
) -> None:
    other, n_uncovered = written(categories, has, tmp_path, Workers(threads=4))
    assert other.equals(table, null_equal=True)
    every = sum(len(one.terms) for one in categories.categories)
    assert n_uncovered == every - table["n_terms1"].max() > 0


def test_what_is_there_is_not_made_again(
    categories: Categories, has: EmbeddedTerms, tmp_path: Path
) -> None:
    def refuses(*_: object) -> np.ndarray:
        raise AssertionError

    told: list[int] = []
    workers = Workers(threads=1, advance=told.append)
    metric = METRICS.get("avg_cos")
    refusing = replace(metric, similarities=refuses, tabulate=refuses)
    with new_files(tmp_path) as files:
        for one in (metric, refusing):
            chosen = {"avg_cos": one}
            write_separation("build", "words", has, categories, chosen, files, workers)
        assert files.exist(separation_path("build", "words", "avg_cos"))
    assert sum(told) == 2 * len(categories.terms())


def test_an_embedding_without_any_of_the_terms_has_no_error(
    categories: Categories, has: EmbeddedTerms, tmp_path: Path
) -> None:
    none = replace(has, covered=np.zeros(len(has.covered), np.bool_))
    table, n_uncovered = written(categories, none, tmp_path)
    assert n_uncovered == len(categories.terms())
    assert table["n_terms1"].unique().to_list() == [0]
    assert table["n_triples"].sum() == table["n_errors"].sum() == 0
    assert table["overlap_error"].drop_nulls().is_empty()
    assert table["mean_similarity"].drop_nulls().is_empty()


def test_a_similarity_that_is_no_number_is_refused(
    categories: Categories, has: EmbeddedTerms, tmp_path: Path
) -> None:
    broken = Metric(
        of=WordBags,
        describes="no numbers",
        similarities=lambda _embedded, first, _second, _workers: np.full(len(first), np.nan),
    )
    with pytest.raises(InputError, match="under broken a similarity"):
        written(categories, has, tmp_path, metrics={"broken": broken})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a build and an embedding."""
    folder = tmp_path_factory.mktemp("evaluated")
    release = categorised_release(3, 50).write_zip(folder / "release.zip", "Snapshot")
    medsim.build(release, folder / "build", negatives=["random"])
    write_words(folder / "words.vec", WORDS[:-1], 4)
    return folder


def evaluate(made: Path, name: str, **options) -> medsim.Evaluation:
    chosen = {"metrics": ["avg_cos", "max_jaccard"], "resamples": 100, **options}
    return medsim.evaluate(made / "build", {"words": made / "words.vec"}, made / name, **chosen)


def test_an_evaluation_has_the_overlap_errors_among_its_results(made: Path) -> None:
    out = evaluate(made, "results", separation=True)

    of_all = out.separation().filter(pl.col("category1").is_null())
    results = out.results().filter(statistic="overlap_error")
    assert (
        results.select("embedding", "metric", "value").rows()
        == of_all.select("embedding", "metric", "overlap_error").rows()
    )
    assert results["dataset"].unique().to_list() == ["separation"]
    about = out.manifest.inputs["build"]["categories"]["categories"]
    assert results["n_pairs"].unique().to_list() == [sum(one["n_terms"] for one in about)]
    assert results["n_covered"].to_list() == of_all["n_terms1"].to_list()
    assert results["n_covered"][0] < results["n_pairs"][0]
    assert medsim.compare(out, "separation").height == 2 * (9 + 1)
    assert medsim.compare(out, "D.1").height == 2 * 9


def test_categories_of_an_earlier_run_are_not_mixed_with_others(made: Path) -> None:
    first = evaluate(made, "grown")
    assert first.separation().is_empty()
    chosen = ["one=103693007", "two=277132007"]

    with_them = evaluate(made, "grown", categories=chosen)
    again = evaluate(made, "grown")

    assert set(with_them.separation()["category1"].drop_nulls()) == {"one", "two"}
    assert again.separation().equals(with_them.separation())
    with pytest.raises(OutputError, match="results of other categories of build"):
        evaluate(made, "grown", separation=True)
    assert medsim.Evaluation(made / "grown").separation().equals(with_them.separation())


@pytest.mark.parametrize("asked", ["separation", "retrieval"])
def test_a_build_must_be_among_the_inputs(made: Path, asked: str) -> None:
    rated = made / "rated.csv"
    rated.write_text("term1,term2,rating\na,b,1\nc,d,2\na,d,3\n", encoding="utf-8")
    with pytest.raises(OptionError, match=f"{asked} needs a build"):
        medsim.evaluate(rated, {"words": made / "words.vec"}, made / "none", **{asked: True})
