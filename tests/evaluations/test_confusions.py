"""Negatives by kind of difference and by relation, and the scores on them, by plain programs."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import medsim
from medsim.evaluations.confusions import kinds_of
from medsim.evaluations.sentences import confusion_sentences

pytestmark = pytest.mark.slow


def letters(terms: list[str]) -> np.ndarray:
    """Return how often each of eight groups of letters occurs."""
    return np.array(
        [[sum(ord(c) % 8 == at for c in term) + 1 for at in range(8)] for term in terms]
    )


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> medsim.Evaluation:
    folder = tmp_path_factory.mktemp("confusions")
    medsim.synth(folder / "release.zip", concepts=1500, seed=1)
    build = medsim.build(folder / "release.zip", folder / "build")
    model = {"letters": medsim.Embedding(letters, version="1")}
    return medsim.evaluate(
        build, model, folder / "results", datasets=["syn_syn"], metrics=["cos"], cache="none"
    )


def negatives_of(evaluation: medsim.Evaluation) -> pl.DataFrame:
    """Return the distinct Levenshtein negatives of the headline score."""
    pairs = evaluation.pairs().collect()
    return pairs.filter(label=0, negatives="levenshtein").unique("pair_id").sort("pair_id")


def test_relations_are_those_of_walks_through_the_hierarchy(
    evaluation: medsim.Evaluation,
) -> None:
    folder = evaluation.folder.parent / "build" / "terminology"
    parents = defaultdict(set)
    is_a = pl.read_parquet(folder / "is_a.parquet", columns=["child_id", "parent_id"])
    for child, parent in is_a.iter_rows():
        parents[child].add(parent)
    tags = dict(
        pl.read_parquet(folder / "concept.parquet").select("concept_id", "semantic_tag").rows()
    )
    bearers = defaultdict(set)
    active = pl.read_parquet(folder / "description.parquet").filter(pl.col("active"))
    for concept, term in active.select("concept_id", "term").iter_rows():
        bearers[term.lower()].add(concept)
        bearers[term.rpartition(" (")[0].lower()].add(concept)

    def above(concept: str) -> set[str]:
        found, front = {concept}, [concept]
        while front:
            new = parents[front.pop()] - found
            found |= new
            front += new
        return found

    def relation(one: str, other: str) -> int:
        up_one, up_other = above(one), above(other)
        tops = [{x for x in up if parents[x] and not any(parents[p] for p in parents[x])}
                for up in (up_one, up_other)]  # fmt: skip
        cases = [
            one in parents[other] or other in parents[one],
            one in up_other or other in up_one,
            parents[one] & parents[other],
            (tops[0] & tops[1]) or (tags.get(one) and tags.get(one) == tags.get(other)),
            True,
        ]
        return next(at for at, case in enumerate(cases) if case)

    names = ["parent_child", "ancestor", "sibling", "category", "unrelated"]
    found = negatives_of(evaluation)
    expected = [
        names[min(relation(*two) for two in product(bearers[one.lower()], bearers[other.lower()]))]
        for one, other in found.select("term1", "term2").iter_rows()
    ]
    assert found["relation"].to_list() == expected
    assert len({*expected}) > 3


def test_a_synonym_is_nearer_as_often_as_counted(evaluation: medsim.Evaluation) -> None:
    scores = evaluation.scores().collect().filter(metric="cos").select("pair_id", "similarity")
    pairs = evaluation.pairs().collect().join(scores, on="pair_id")
    similarities = defaultdict(dict)
    for first, pair, value in (
        pairs.filter(label=1).select("term1", "pair_id", "similarity").iter_rows()
    ):
        similarities[first][pair] = value
    results = evaluation.results().filter(embedding="letters", statistic="synonym_nearer")
    negatives = negatives_of(evaluation).join(scores, on="pair_id")
    assert results.height > 3
    for dataset, value in results.select("dataset", "value").iter_rows():
        part, _, kind = dataset.removeprefix("syn_syn/").partition("=")
        shares = []
        for (first,), rows in negatives.filter(pl.col(part) == kind).group_by("term1"):
            for positive in similarities[str(first)].values():
                others = rows["similarity"].to_list()
                wins = [(positive > other) + (positive == other) / 2 for other in others]
                shares.append(sum(wins) / len(wins))
        assert value == pytest.approx(np.mean(shares), abs=1e-9)


def test_every_kind_with_30_pairs_has_both_scores_and_no_other(
    evaluation: medsim.Evaluation,
) -> None:
    negatives = negatives_of(evaluation)
    expected = {
        f"syn_syn/{part}={kind}"
        for part in ("difference", "relation")
        for kind, n in negatives[part].value_counts().iter_rows()
        if n >= 30
    }
    results = evaluation.results().filter(pl.col("dataset").str.contains("/"))
    for statistic in ("synonym_nearer", "auc_of_kind"):
        assert {*results.filter(statistic=statistic)["dataset"]} == expected
    table = medsim.compare(evaluation, "confusions")
    assert {*table["dataset"]} == expected
    assert {*table["embedding"]} == {"letters", "baseline"}


def test_a_sentence_names_what_the_best_embedding_confuses_but_not_what_it_hardly_covers() -> None:
    row = {"input": "hpo", "low": 0.1, "high": 0.3, "n_pairs": 100, "n_covered": 100}
    row |= {"negatives": "levenshtein"}
    score = row | {"dataset": "syn_syn", "statistic": "auc_beyond_spelling"}
    nearer = row | {"statistic": "synonym_nearer", "embedding": "a"}
    rows = [
        score | {"embedding": "a", "value": 0.7},
        score | {"embedding": "b", "value": 0.6},
        nearer | {"dataset": "syn_syn/difference=side", "value": 0.2},
        nearer | {"dataset": "syn_syn/difference=number", "value": 0.1, "n_covered": 49},
        nearer | {"dataset": "syn_syn/difference=other", "value": 0.1},
        nearer | {"dataset": "syn_syn/relation=parent_child", "value": 0.3, "low": None},
        nearer | {"dataset": "syn_syn/difference=side", "value": 0.1, "embedding": "b"},
    ]

    assert confusion_sentences(pl.DataFrame(rows)) == [
        (
            "a confuses names that differ in a side most: a synonym is nearer than such a name in "
            "20% of cases (95% CI 10% to 30%)."
        ),
        "a finds a synonym nearer than a name of a parent or child in 30% of cases.",
    ]

    more = {"dataset": "syn_syn/difference=number", "value": 0.4, "negatives": "minimal"}
    [said, _] = confusion_sentences(pl.DataFrame([*rows, nearer | more]))
    assert said.startswith("a confuses names that differ in a number most")  # these are more


def test_names_differ_in_the_kinds_of_the_audit(tmp_path: Path) -> None:
    names = [("1", "left arm"), ("2", "right arm"), ("3", "no pain"), ("4", "pain"),
             ("5", "type 1"), ("6", "type 2"), ("7", "hand"), ("8", "foot bone")]  # fmt: skip
    names += [(code, f"{name} synonym") for code, name in names]
    pl.DataFrame(names, schema=["code", "name"], orient="row").write_csv(tmp_path / "names.csv")
    build = medsim.build(tmp_path / "names.csv", tmp_path / "build")
    pairs = [(names[at][1], names[at + 1][1]) for at in (0, 2, 4, 6)]
    frame = pl.DataFrame(pairs, schema=["term1", "term2"], orient="row")

    found = kinds_of(frame.with_row_index("pair_id").cast({"pair_id": pl.String}), build)

    assert found["difference"].to_list() == ["side", "negation", "number", "other"]
    assert found["relation"].null_count() == 4  # the table has no hierarchy
