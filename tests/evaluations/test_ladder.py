"""The ladder from synonyms to unrelated names, compared with a plain program."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import networkx as nx
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import medsim
from medsim.evaluations.sentences import confusion_sentences, result_sentences
from medsim.evaluations.sets import RUNGS

pytestmark = pytest.mark.slow


def letters(terms: list[str]) -> np.ndarray:
    """Return how often each of eight groups of letters occurs."""
    return np.array(
        [[sum(ord(c) % 8 == at for c in term) + 1 for at in range(8)] for term in terms]
    )


@pytest.fixture(scope="module")
def evaluations(tmp_path_factory: pytest.TempPathFactory) -> list[medsim.Evaluation]:
    """An evaluation of a build with the option, and one of a build without it."""
    folder = tmp_path_factory.mktemp("ladder")
    medsim.synth(folder / "release.zip", concepts=1000, seed=1)
    model = {"letters": medsim.Embedding(letters, version="1")}
    return [
        medsim.evaluate(
            medsim.build(folder / "release.zip", folder / str(on) / "build", hierarchy=on),
            model,
            folder / str(on) / "results",
            metrics=["cos"],
            cache="none",
        )
        for on in (True, False)
    ]


@pytest.fixture(scope="module")
def ladder(evaluations: list[medsim.Evaluation]) -> dict[str, list[tuple[str, str]]]:
    """The pairs of each rung."""
    pairs = evaluations[0].pairs().filter(dataset="parent_child", difficulty="all").collect()
    assert pairs["label"].null_count() == pairs.height
    return {rung: pairs.filter(negatives=rung).select("term1", "term2").rows() for rung in RUNGS}


def test_each_rung_has_names_of_its_relation(
    evaluations: list[medsim.Evaluation], ladder: dict[str, list[tuple[str, str]]]
) -> None:
    build = medsim.open(evaluations[0].folder.parent / "build")
    graph = nx.DiGraph(build.table("is_a").select("child_id", "parent_id").collect().rows())
    concepts, names = defaultdict(set), defaultdict(set)
    named = (
        build.table("description")
        .filter("active")
        .join(build.table("concept").filter("active"), on="concept_id")
    )
    for concept, name, kind in named.select("concept_id", "term", "kind").collect().iter_rows():
        names[concept].add(name)
        if kind == "fsn":
            concepts[name].add(concept)
    children = {*build.pairs("parent_child").filter(label=1)["term1"]}

    def some(test, first: str, second: str) -> bool:
        return any(test(a, b) for a in concepts[first] for b in concepts[second])

    holds = {
        "parent": graph.has_edge,
        "grandparent": lambda a, b: (
            not graph.has_edge(a, b) and any(graph.has_edge(p, b) for p in graph[a])
        ),
        "sibling": lambda a, b: (
            {*graph[a]} & {*graph[b]}
            and not nx.has_path(graph, a, b)
            and not nx.has_path(graph, b, a)
        ),
        "unrelated": lambda a, b: not nx.has_path(graph, a, b) and not nx.has_path(graph, b, a),
    }
    for rung, pairs in ladder.items():
        assert {first for first, _ in pairs} <= children
        assert len(pairs) > 50
        if rung == "synonym":
            assert all(any(b in names[c] for c in concepts[a]) for a, b in pairs)
        else:
            assert all(some(holds[rung], a, b) for a, b in pairs), rung
        if rung in {"grandparent", "sibling"}:
            assert len({first for first, _ in pairs}) == len(pairs)
    everything = [pair for pairs in ladder.values() for pair in pairs]
    assert len({*everything}) == len(everything)


def test_scores_are_those_of_a_plain_program(
    evaluations: list[medsim.Evaluation], ladder: dict[str, list[tuple[str, str]]]
) -> None:
    values = evaluations[0].scores().filter(metric="cos").select("pair_id", "similarity")
    pairs = evaluations[0].pairs().join(values, on="pair_id")
    similarity = {
        (one, other): value
        for one, other, value in pairs.select("term1", "term2", "similarity").collect().iter_rows()
    }
    table = medsim.compare(evaluations[0], "ladder")
    results = evaluations[0].results().filter(embedding="letters", statistic="rung_nearer")
    scores = {
        (dataset.partition("=")[2], following): (value, low, high)
        for dataset, following, value, low, high in results.select(
            "dataset", "negatives", "value", "low", "high"
        ).iter_rows()
    }
    assert scores.keys() == {*pairwise(RUNGS)}
    for upper, lower in pairwise(RUNGS):
        groups = defaultdict(lambda: ([], []))
        for side, rung in enumerate((upper, lower)):
            for one, other in ladder[rung]:
                a, b = one.lower(), other.lower()
                groups[one, a in b or b in a][side].append(similarity[one, other])
        shares = [
            np.mean([(value > other) + (value == other) / 2 for other in below])
            for above, below in groups.values()
            for value in above
            if below
        ]
        value, low, high = scores[upper, lower]
        assert value == pytest.approx(np.mean(shares), abs=1e-6)
        assert low < value < high
    order = table["dataset"].unique(maintain_order=True).to_list()
    assert order == [f"parent_child/rung={rung}" for rung in RUNGS[:-1]]
    assert {*table["embedding"]} == {"letters", "baseline"}
    relations = medsim.compare(evaluations[0], "confusions").filter(part="relation")["part_value"]
    assert relations.to_list() == sorted(relations)


def test_all_other_scores_and_sentences_are_those_without_the_option(
    evaluations: list[medsim.Evaluation],
) -> None:
    rows = [
        evaluation.results()
        .filter(
            ~pl.col("dataset").str.starts_with("parent_child"),
            pl.col("metric") != "rare_trigram_overlap",  # depends on all evaluated terms
        )
        .drop("signature")
        for evaluation in evaluations
    ]
    assert_frame_equal(rows[0], rows[1])  # sums have another order
    sentences = []
    for evaluation in evaluations:
        best = medsim.compare(evaluation)
        best = best.filter(pl.col("embedding") != "baseline")
        sentences.append(result_sentences(best, evaluation.comparisons()))
    assert sentences[0] == sentences[1]
    standings = [medsim.compare(evaluation, "standings") for evaluation in evaluations]
    assert_frame_equal(*standings)


def test_a_sample_keeps_the_rungs_of_its_children(evaluations: list[medsim.Evaluation]) -> None:
    whole = evaluations[0]
    model = {"letters": medsim.Embedding(letters, version="1")}
    build, out = whole.folder.parent / "build", whole.folder.parent / "sampled"
    sampled = medsim.evaluate(build, model, out, metrics=["cos"], sample=200, cache="none")
    kept = sampled.pairs().collect().filter(dataset="parent_child")
    children = {*kept.filter(label=1)["term1"]}
    of_whole = whole.pairs().collect().filter(dataset="parent_child", difficulty="all")
    of_children = of_whole.filter(pl.col("term1").is_in([*children]))
    found = kept.filter(difficulty="all")
    assert sorted(found.rows()) == sorted(of_children.rows())
    assert 0 < found.height < of_whole.height


def test_terms_of_one_difficulty_or_other_datasets_have_no_ladder(
    evaluations: list[medsim.Evaluation],
) -> None:
    build, model = evaluations[0].folder.parent / "build", {"letters": letters}
    for number, options in enumerate(({"difficulty": ["hard"]}, {"datasets": ["syn_syn"]})):
        out = evaluations[0].folder.parent / f"chosen{number}"
        chosen = medsim.evaluate(build, model, out, metrics=["cos"], cache="none", **options)
        assert chosen.results().filter(statistic="rung_nearer").is_empty()


def test_a_sentence_says_how_often_a_synonym_is_nearer_than_a_parent() -> None:
    row = {"input": "hpo", "low": 0.5, "high": 0.7, "n_pairs": 100, "n_covered": 100}
    row |= {"embedding": "a", "negatives": "all"}
    rung = row | {"statistic": "rung_nearer", "dataset": "parent_child/rung=synonym"}
    rows = [
        row | {"dataset": "syn_syn", "statistic": "auc_beyond_spelling", "value": 0.7},
        rung | {"negatives": "parent", "value": 0.6},
        rung | {"negatives": "sibling", "dataset": "parent_child/rung=parent", "value": 0.2},
    ]
    expected = "a finds a synonym nearer than a parent in 60% of cases, over all children"
    assert confusion_sentences(pl.DataFrame(rows)) == [f"{expected} (95% CI 50% to 70%)."]
