"""How often models choose wrong names of each kind, and what embeddings affirm in pairs."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.questions import questions_of, write_questions

import medsim
from medsim.questions.scores import chosen_sentences

N_NAMES = 3


def marks(terms: list[str]) -> np.ndarray:
    """Return vectors that depend on the last letters."""
    return np.array([[len(term) % 5 + 1.0, ord(term[-1]) % 7, ord(term[-3]) % 3] for term in terms])


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict], medsim.Answers]:
    folder = tmp_path_factory.mktemp("chosen")
    rows = questions_of(240, 9, N_NAMES)
    relations = ["parent_child", "sibling", "unrelated"]
    for number, row in enumerate(rows):
        row["relations"] = [relations[(number + at) % 3] for at in range(N_NAMES)]
        row["relations"][row["answer"]] = None
    embeddings = {"marks": medsim.Embedding(marks, version="1")}
    questions = write_questions(folder / "mcq", test=rows)
    return rows, medsim.evaluate(questions, embeddings, folder / "out", cache="none")


def cosines(row: dict) -> list[float]:
    term, *names = marks([row["term"], *row["choices"]])
    return [float(term @ n / np.linalg.norm(term) / np.linalg.norm(n)) for n in names]


def test_chosen_kinds_are_counted(asked: tuple[list[dict], medsim.Answers]) -> None:
    rows, answers = asked
    offered, chosen = Counter(), Counter()
    for row in rows:
        taken = int(np.argmax(np.float32(cosines(row))))
        for at in set(range(N_NAMES)) - {row["answer"]}:
            kinds = [("difference", row["differences"][at]), ("relation", row["relations"][at])]
            offered.update(kinds)
            chosen.update(kinds if at == taken else [])
    found = answers.chosen().filter(model="marks", ask="choice")
    counts = {(by, kind): counted for by, kind, *counted in
              found.select("by", "kind", "n_offered", "n_chosen", "share").iter_rows()}  # fmt: skip
    assert counts == {
        key: [n, chosen[key], pytest.approx(chosen[key] / n)] for key, n in offered.items()
    }
    assert found["chance"].to_list() == pytest.approx([1 / 3] * found.height)
    assert (found["low"] < found["share"]).all()


def test_an_embedding_affirms_what_is_above_the_threshold_of_other_concepts(
    asked: tuple[list[dict], medsim.Answers],
) -> None:
    rows, answers = asked
    concepts = sorted({row["concept1"] for row in rows})
    half_of = {concept: at % 2 for at, concept in enumerate(concepts)}
    items = [(half_of[row["concept1"]], at == row["answer"], value)
             for row in rows for at, value in enumerate(cosines(row))]  # fmt: skip

    def balanced(threshold: float, half: int) -> float:
        of_half = [(right, value >= threshold) for other, right, value in items if other == half]
        return sum(
            np.mean([said == label for right, said in of_half if right == label])
            for label in (True, False)
        )

    n_right = {True: 0, False: 0}
    for half in (0, 1):
        values = sorted({value for other, _, value in items if other != half})
        between = [(a + b) / 2 for a, b in pairwise(values) if b - a > 1e-7]
        best = max(between, key=lambda threshold: balanced(threshold, 1 - half))
        for other, right, value in items:
            if other == half:
                n_right[right] += (value >= best) == right
    found = answers.results().filter(model="marks", ask="pairs", by="answer")
    shares = dict(found.select("group", "accuracy").iter_rows())
    assert shares["yes"] == pytest.approx(n_right[True] / len(rows), abs=0.01)
    assert shares["no"] == pytest.approx(n_right[False] / len(rows) / 2, abs=0.01)


def test_sentences_name_what_the_best_model_chose_most_often(
    asked: tuple[list[dict], medsim.Answers],
) -> None:
    answers = asked[1]
    named = answers.chosen().filter(
        pl.col("model") == "marks", pl.col("ask") == "choice", pl.col("by") == "relation"
    )
    top = named.filter(pl.col("kind") != "unrelated").sort("share").row(-1, named=True)
    kind = top["kind"].replace("_", " or ")
    said = f"chose wrong names of the kind {kind} most often: {top['share']:.0%} of "
    assert any(said in sentence for sentence in chosen_sentences(answers))


def test_questions_of_a_build_have_relations_and_concepts(tmp_path: Path) -> None:
    medsim.synth(tmp_path / "release.zip", concepts=300, seed=3)
    build = medsim.build(tmp_path / "release.zip", tmp_path / "build")
    medsim.export(build, tmp_path / "mcq", to="jsonl", choices=2, negatives="random", private=True)
    rows = pl.read_ndjson(tmp_path / "mcq" / "train.jsonl")
    names = build.table("description").filter(pl.col("active")).collect()
    bearers: dict[str, set[str]] = {}
    for concept, term in names.select("concept_id", "term").iter_rows():
        bearers.setdefault(term.lower(), set()).add(concept)
        bearers.setdefault(term.rpartition(" (")[0].lower(), set()).add(concept)
    assert rows.height > 50
    for row in rows.iter_rows(named=True):
        right = row["answer"]
        assert row["relations"][right] is None
        assert len(row["relations"]) == len(row["concepts"]) == len(row["choices"]) == 3
        for at, (name, concept) in enumerate(zip(row["choices"], row["concepts"], strict=True)):
            assert concept is None or concept in bearers[name.lower()]
            assert row["relations"][at] is None or at != right
    assert rows["relations"].explode().count() > 1.5 * rows.height  # most terms are names
