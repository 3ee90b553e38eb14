"""Retrieval from end to end, against a loop over all terms that shares no code with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import write_words
from fixtures.release import random_release

import medsim
from medsim.core.progress import Stage
from medsim.core.terms import content_hashes
from medsim.embeddings.embedded_terms import EmbeddedTerms
from medsim.embeddings.lookup import CosineSearch
from medsim.embeddings.metrics import TermPoints
from medsim.evaluations.retrieval import retrieve

LENGTHS = ("1", "2", "3", "4", "5+")
POOLS = pytest.mark.parametrize(
    "data",
    ["set", pytest.param("terminology", marks=pytest.mark.slow)],
    indirect=True,
    scope="module",
)


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that makes the folder of a pool on its first call."""

    @cache
    def folder_of(pool: str) -> Path:
        folder = tmp_path_factory.mktemp("retrieval")
        random_release(9, 120).write_zip(folder / "release.zip", "Snapshot")
        medsim.build(folder / "release.zip", folder / "build", pool=pool, negatives=["random"])
        terms = pool_of(folder / "build")
        write_terms(folder / "one.parquet", terms[::2], 1, width=3)
        write_terms(folder / "two.parquet", terms[5:], 2, width=4)
        evaluate(folder, "results")
        return folder

    return folder_of


@pytest.fixture(scope="module")
def data(request, make: Callable[[str], Path]) -> Path:
    """A folder with a build, two embeddings that each lack terms, and their evaluation."""
    return make(getattr(request, "param", "set"))


def write_terms(path: Path, terms: list[str], seed: int, width: int) -> None:
    """Write vectors of terms, drawn from whole numbers so that similarities tie."""
    vectors = np.random.default_rng(seed).integers(-2, 3, (len(terms), width))
    pl.DataFrame({"term": terms, "vector": vectors.astype(np.float32).tolist()}).write_parquet(path)


def evaluate(data: Path, name: str, **options) -> medsim.Evaluation:
    names = options.pop("names", ("one", "two"))
    defaults = {"metrics": ["cos"], "resamples": 100, "retrieval": True}
    defaults["embeddings"] = {embedding: data / f"{embedding}.parquet" for embedding in names}
    return medsim.evaluate(data / "build", out=data / name, **(defaults | options))


@pytest.fixture(scope="module")
def evaluation(data: Path) -> medsim.Evaluation:
    return medsim.Evaluation(data / "results")


@cache
def positives_of(folder: Path) -> pl.DataFrame:
    return medsim.Build(folder).pairs(negatives="random").filter(pl.col("label") == 1)


@cache
def pool_of(folder: Path) -> list[str]:
    """The terms that are searched, in their first spelling."""
    build = medsim.Build(folder)
    positives = positives_of(folder)
    terms = {*positives["term1"], *positives["term2"]}
    if build.manifest.options["pool"] == "terminology":
        concepts = build.table("concept").filter("active").collect()
        modules = dict(concepts.select("concept_id", "module_id").iter_rows())
        names = build.table("description").filter("active", language="en").collect()
        heads = dict(names.filter(kind="fsn").select("concept_id", "term").iter_rows())
        terms |= {
            term
            for concept, term in names.select("concept_id", "term").iter_rows()
            if modules.get(concept, "900000000000012004") != "900000000000012004"
            and concept in heads
            and (term == heads[concept] or term.lower() != heads[concept].lower())
        }
    first: dict[str, str] = {}
    for term in sorted(terms):
        first.setdefault(term.lower(), term)
    return sorted(first.values())


@cache
def read_vectors(path: Path) -> dict[str, np.ndarray]:
    return {
        term: np.array(vector, np.float64)
        for term, vector in pl.read_parquet(path).select("term", "vector").iter_rows()
    }


def cosine(x: np.ndarray, y: np.ndarray) -> np.float32:
    return cosines(np.array([x, y]))[0, 1]


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines of all pairs of vectors of whole numbers, so that sums are exact."""
    lengths = np.sqrt((vectors * vectors).sum(axis=1))
    scale = lengths[:, np.newaxis] * lengths
    return np.divide(vectors @ vectors.T, scale, where=scale > 0, out=scale * 0).astype(np.float32)


@cache
def cosines_by_term(folder: Path, vectors: Path) -> dict[str, dict[str, np.float32]]:
    """The cosines between the terms of the pool that have a nonzero vector."""
    nonzero = {term: vector for term, vector in read_vectors(vectors).items() if np.any(vector)}
    terms = [term for term in pool_of(folder) if term in nonzero]
    table = cosines(np.array([nonzero[term] for term in terms]))
    return {
        term: {other: value for other, value in zip(terms, row, strict=True) if other != term}
        for term, row in zip(terms, table, strict=True)
    }


@cache
def ranks_by_hand(folder: Path, vectors: Path) -> dict[str, int | None]:
    """The rank of the best linked term of every linked term; None if there is none."""
    import networkx as nx

    alike = cosines_by_term(folder, vectors)
    positives = positives_of(folder)
    graph = nx.Graph(
        (a.lower(), b.lower()) for a, b in positives.select("term1", "term2").iter_rows()
    )
    component = {
        node: at for at, nodes in enumerate(nx.connected_components(graph)) for node in nodes
    }
    ranks: dict[str, int | None] = {}
    for term in pool_of(folder):
        if term.lower() not in component:
            continue
        linked, unlinked = [], []
        for other, value in alike.get(term, {}).items():
            is_linked = component.get(other.lower()) == component[term.lower()]
            (linked if is_linked else unlinked).append(value)
        nearest = max(linked, default=None)
        ranks[term] = 1 + sum(value >= nearest for value in unlinked) if linked else None
    return ranks


def rows_of(evaluation: medsim.Evaluation, embedding: str, index: str = "flat") -> pl.DataFrame:
    path = f"retrieval/input=build/embedding={embedding}/metric=cos/index={index}/data.parquet"
    return evaluation.read(path)


@pytest.mark.some(2)
@POOLS
@pytest.mark.parametrize("embedding", ["one", "two"])
def test_ranks_match_a_loop_over_all_terms(
    data: Path, evaluation: medsim.Evaluation, embedding: str
) -> None:
    expected = ranks_by_hand(data / "build", data / f"{embedding}.parquet")
    rows = rows_of(evaluation, embedding)

    assert dict(rows.select("term", "rank").iter_rows()) == expected
    ranks = [rank for rank in expected.values() if rank]
    assert min(ranks) < 10
    assert max(ranks) > 20  # beyond the neighbours that are searched first
    assert rows["covered"].sum() < rows.height


def test_the_nearest_term_is_most_similar(data: Path, evaluation: medsim.Evaluation) -> None:
    alike = cosines_by_term(data / "build", data / "one.parquet")
    for row in rows_of(evaluation, "one").filter("covered").iter_rows(named=True):
        similarities = alike[row["term"]]
        assert row["nearest_similarity"] == max(similarities.values())
        assert similarities[row["nearest_term"]] == max(similarities.values())
        if row["linked_term"] is not None:
            assert row["linked_similarity"] == similarities[row["linked_term"]]


@POOLS
def test_scores_are_means_over_groups_of_terms(data: Path, evaluation: medsim.Evaluation) -> None:
    easy = {}
    for a, b, distance in positives_of(data / "build").select("term1", "term2", "distance").rows():
        for term in (a.lower(), b.lower()):
            easy[term] = min(distance, easy.get(term, distance))
    table = evaluation.retrieval()
    n_seen = 0
    for embedding in ("one", "two"):
        ranks = ranks_by_hand(data / "build", data / f"{embedding}.parquet")
        found_ranks = {term: rank for term, rank in ranks.items() if rank}
        for row in table.filter(embedding=embedding).iter_rows(named=True):
            chosen = [
                rank
                for term, rank in (ranks if row["subset"] == "common" else found_ranks).items()
                if row["length"] in {None, LENGTHS[min(len(term.split()), 5) - 1]}
                and row["difficulty"] in {None, "easy" if easy[term.lower()] <= 5 else "hard"}
            ]
            if not chosen:
                assert row["value"] is None
                continue
            n_seen += 1
            if row["statistic"] == "mrr":
                expected = np.mean([1 / rank if rank else 0 for rank in chosen])
            else:
                depth = int(row["statistic"].rsplit("_", 1)[1])
                expected = np.mean([rank is not None and rank <= depth for rank in chosen])
            assert row["value"] == pytest.approx(expected)
            assert row["n_terms" if row["subset"] == "common" else "n_covered"] == len(chosen)
            if row["low"] is not None:
                assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1
    assert n_seen > 100


def test_results_and_comparisons_cover_all_lengths(evaluation: medsim.Evaluation) -> None:
    results = evaluation.results().filter(dataset="retrieval", statistic="mrr", subset="common")
    assert results.select("embedding", "difficulty").rows() == [
        (embedding, difficulty)
        for embedding in ("one", "two")
        for difficulty in (None, "easy", "hard")
    ]
    assert results["n_covered"].to_list() == results["n_pairs"].to_list()
    (compared,) = evaluation.comparisons().filter(dataset="retrieval", of="mrr").rows(named=True)
    value = {
        row["embedding"]: row["value"]
        for row in results.filter(pl.col("difficulty").is_null()).rows(named=True)
    }
    assert compared["difference"] == pytest.approx(value["one"] - value["two"])
    assert compared["low"] < compared["difference"] < compared["high"]


@pytest.mark.slow
def test_threads_and_repeated_runs_do_not_change_results(
    data: Path, evaluation: medsim.Evaluation
) -> None:
    one_thread = evaluate(data, "one-thread", threads=1)
    many_threads = evaluate(data, "many-threads", threads=4)
    _, added = (evaluate(data, "added", names=[name]) for name in ("one", "two"))
    again = evaluate(data, "added")

    for other in (one_thread, many_threads, added, again):
        assert other.retrieval().equals(evaluation.retrieval())
        assert other.comparisons().equals(evaluation.comparisons())


@pytest.mark.some(1)
@pytest.mark.parametrize("index", [pytest.param("ivf", marks=pytest.mark.slow), "hnsw"])
def test_an_approximate_index_is_added_to_the_exact_one_with_its_recall(
    data: Path, index: str
) -> None:
    evaluate(data, f"beside-{index}")
    both = evaluate(data, f"beside-{index}", index=index)
    table = both.retrieval()

    assert table.filter(index="flat")["recall"].null_count() == table.filter(index="flat").height
    recall = table.filter(index=index)["recall"]
    assert recall.null_count() == 0
    assert recall.is_between(0.1, 1).all()
    assert both.results().filter(dataset="retrieval").height == 2 * 2 * 3 * 4
    assert "retrieved" in both.views()["view"].to_list()
    if find_spec("altair"):
        (rows,) = both.chart("mrr").to_dict()["datasets"].values()
        names = {f"{name} ({kind})" for name in ("one", "two") for kind in ("flat", index)}
        assert {row["embedding"] for row in rows} == names


def test_an_approximate_index_gives_the_rank_of_the_first_linked_term_that_it_finds() -> None:
    draw = np.random.default_rng(5)
    vectors = draw.integers(-3, 4, (600, 5)).astype(np.float32)
    component = draw.integers(0, 200, 600).astype(np.int32)
    sizes = np.bincount(component, minlength=200)[component]
    terms = [f"{number:04d}" for number in range(600)]
    linked = pl.DataFrame(
        {"term": terms, "component": component, "is_linked": sizes > 1}
    ).with_columns(difficulty=pl.lit("hard"), n_words=pl.lit(1, pl.Int32))
    embedded = EmbeddedTerms(
        embedded=TermPoints(vectors=vectors),
        covered=np.ones(600, np.bool_),
        terms=pl.DataFrame({"term": terms, "covered": True}),
        words=None,
        n_vocabulary=None,
    )
    hashes, rows = content_hashes(linked["term"]), np.arange(600, dtype=np.int32)
    search = CosineSearch(vectors, rows, hashes, index="ivf", seed=3)
    neighbours = search.nearest(rows, np.full(600, 100, np.int32))

    table = retrieve(linked, embedded, Stage("looking"), "ivf", seed=3, threads=2)

    n_missed = 0
    for term, rank, other in table.select("term", "rank", "linked_term").iter_rows():
        at = int(term)
        ids = neighbours.ids[neighbours.starts[at] : neighbours.starts[at + 1]]
        alike = neighbours.similarities[neighbours.starts[at] : neighbours.starts[at + 1]]
        same = component[ids] == component[at]
        if not same.any():
            assert rank is None
            n_missed += 1
            continue
        best = alike[same].max()
        assert rank == 1 + np.count_nonzero(~same & (alike >= best))
        assert cosine(*vectors[[at, int(other)]].astype(np.float64)) == best
    assert 0 < n_missed < table.height
    assert (table["rank"] == 1).any()


def test_word_vectors_are_averaged(data: Path) -> None:
    pairs = positives_of(data / "build")
    words = {word for side in ("term1", "term2") for term in pairs[side] for word in term.split()}
    write_words(data / "words.vec", sorted(words), 7)
    embeddings = {"words": data / "words.vec"}
    out = evaluate(data, "of-words", embeddings=embeddings, metrics=["avg_cos"])
    rows = out.read(
        "retrieval/input=build/embedding=words/metric=avg_cos/index=flat/data.parquet"
    ).drop_nulls("linked_term")
    scores = out.pairs().collect().join(out.scores().collect(), on="pair_id").filter(label=1)
    alike = {(a, b): value for a, b, value in scores.select("term1", "term2", "similarity").rows()}
    similarities = [
        (row["linked_similarity"], alike[pair])
        for row in rows.rows(named=True)
        for pair in ((row["term"], row["linked_term"]), (row["linked_term"], row["term"]))
        if pair in alike
    ]
    assert len(similarities) > 20
    assert all(linked == scored for linked, scored in similarities)


def test_an_embedding_without_the_terms_finds_nothing(data: Path) -> None:
    write_terms(data / "alien.parquet", ["zzzz", "yyyy"], 3, width=2)
    none = evaluate(data, "none-known", names=["alien"])

    table = none.retrieval().filter(subset="common")
    assert set(none.retrieval()["n_covered"]) == {0}
    assert set(table["value"].drop_nulls()) <= {0.0}
