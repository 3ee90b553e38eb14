"""Names with typing errors and other noise, against hand-made ones and plain searches."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from typing import get_args

import numpy as np
import polars as pl
import pytest
from fixtures.sizes import sized
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

import medsim
from medsim.core.errors import InputError, OptionError
from medsim.evaluations.options import Noise
from medsim.evaluations.robustness import NoisyNames

KINDS = get_args(Noise)
NAMES = [
    "femur fracture",
    "femur fractures",
    "iliac bones",
    "vertebra",
    "tumour of bone",
    "tumor of skin",
    "hyperaemia",
    "otitis media, right medium",
    "chronic obstructive lung disease",
    "type 2 glycogen disease",
]
CONCEPTS = [
    ["Chronic obstructive lung disease", "COLD", "Chronic lung disease"],
    ["Fear of the dark (FOD)", "Fear of dark", "FD", "Fear"],
    ["Left iliac bone", "LB"],
]


def altered(name: str, kind: str, n_errors: int | None = None, seed: int = 0) -> str | None:
    return NoisyNames(NAMES, CONCEPTS, seed).altered(name, kind, n_errors)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("swap", {"fmeur", "feumr", "femru"}),
        ("drop", {"fmur", "feur", "femr", "femu"}),
        ("double", {"feemur", "femmur", "femuur", "femurr"}),
        (
            "wrong_key",
            {"f" + key + "mur" for key in "wrsd"}
            | {"fe" + key + "ur" for key in "jkn"}
            | {"fem" + key + "r" for key in "yihj"}
            | {"femu" + key for key in "etdf"},
        ),
    ],
)
def test_a_typing_error_changes_one_place_after_the_first_letter(kind: str, expected: set) -> None:
    made = {altered("femur", kind, 1, seed) for seed in range(200)}

    assert made == expected


def test_two_typing_errors_are_in_two_words() -> None:
    for seed in range(50):
        one, other = altered("femur fracture", "drop", 2, seed).split()
        assert (Levenshtein.distance(one, "femur"), len(one)) == (1, 4)
        assert (Levenshtein.distance(other, "fracture"), len(other)) == (1, 7)
    assert altered("femur", "drop", 2) is None
    assert altered("femur of a man", "drop", 2) is None


@pytest.mark.parametrize("kind", ["swap", "drop", "double", "wrong_key"])
def test_errors_leave_numbers_symbols_and_short_words_as_they_are(kind: str) -> None:
    for name in (
        "Type 12345",
        "xviii",
        "XVIII",
        "COLDER of p53",
        "a b c",
        "bone",
        "",
        "-",
        "1",
        "Ж",
    ):
        assert altered(name, kind, 1) is None
    for seed in range(20):
        assert altered("Type XVIII vertebra 12", kind, 1, seed).startswith("Type XVIII v")
        assert altered("VERTEBRA", kind, 1, seed).isupper()


def test_an_error_does_not_make_another_word_or_spelling() -> None:
    assert {altered("iliac", "wrong_key", 1, seed) for seed in range(300)}.isdisjoint(
        {"iliac", "femur"}
    )
    noise = NoisyNames(["ileum", "ilium", "ilsum"], [], 0)
    drops = {NoisyNames(["foetal"], [], seed).altered("foetal", "drop", 1) for seed in range(99)}
    keys = {
        NoisyNames(["abcde", "abcdw"], [], s).altered("abcde", "wrong_key", 1) for s in range(300)
    }

    assert noise.altered("ileum", "swap", 1) not in {"ilium", "ilsum"}
    assert "fetal" not in drops
    assert "abcdw" not in keys
    assert "abcdr" in keys


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("word_order", "Diabetes mellitus, type 2", "type 2 Diabetes mellitus"),
        ("word_order", "Left femur fracture", "fracture Left femur"),
        ("word_order", "Grade 2 femur fracture", None),
        ("word_order", "Pain without femur fracture", None),
        ("word_order", "Fracture, left, open", None),
        ("word_order", "Fracture", None),
        ("word_order", "Fracture of", None),
        ("word_order", "Disease (disorder)", None),
        ("spelling", "Tumour and hyperaemia", "Tumor and hyperemia"),
        ("spelling", "TUMOR of SKIN", None),
        ("spelling", "TUMOR", "TUMOUR"),
        ("spelling", "Hyperemia", "Hyperaemia"),
        ("spelling", "Colour", None),
        ("plural", "Left femur fracture", "Left femur fractures"),
        ("plural", "Fractures of a rib", "Fracture of a rib"),
        ("plural", "Otitis media", None),
        ("plural", "Vertebra", None),
        ("abbreviation", "Chronic obstructive lung disease", "COLD"),
        ("abbreviation", "Fear of the dark (FOD)", "FD"),
        ("abbreviation", "Fear of dark", "FD"),
        ("abbreviation", "Fear", None),
        ("abbreviation", "Left iliac bone", None),
        ("accent", "Ménière's Éclat", "Meniere's Eclat"),
        ("accent", "naïve ½ β Ж-Ångström", "naive ½ β Ж-Angstrom"),
        ("accent", "Meniere", None),
        *((kind, name, None) for kind, name in product(KINDS[4:], ("", "x", "1-2", "II", "%"))),
    ],
)
def test_other_noise_is_as_by_hand(kind: str, name: str, expected: str | None) -> None:
    assert altered(name, kind) == expected


def write_terminology(path: Path, n_concepts: int = 60) -> Path:
    """Write a table of invented concepts that every kind of noise applies to."""
    draw = Random(4)  # noqa: S311

    def word() -> str:
        return "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(4))

    rows = [
        "id,name,synonyms,obsolete",
        "A,zorbaladu tumour,zorbaladu tumor,false",  # the altered name is the only other one
        "B,virpolika tumour,virpolika fracture,false",
        "R,virpolika tumor,,true",  # its altered name is that of a retired concept
    ]
    for at in range(n_concepts):
        one, two, three = word(), word(), word()
        short = "".join(part[0] for part in (one, two, three)).upper()
        names = (
            f"{one} {two} tumour",
            f"{one} {two} {three}",
            short,
            f"{two}é lesion",
            f"{one} lesions",
        )
        rows.append(f"C{at},{three} fracture,{'|'.join(names)},false")
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def letters(terms: list[str]) -> np.ndarray:
    """Return how often each of twelve groups of letters occurs, in whole numbers that tie."""
    return np.array([[sum(ord(c) % 12 == at for c in term) for at in range(12)] for term in terms])


def firsts(terms: list[str]) -> np.ndarray:
    return np.array([[ord(term[0]), len(term), 3] for term in terms])


def evaluate(folder: Path, out: str, **options) -> medsim.Evaluation:
    models = options.pop("models", {"letters": letters})
    models = {name: medsim.Embedding(model, version="1") for name, model in models.items()}
    defaults = {"retrieval": True, "noise": KINDS, "cache": "none", "metrics": ["cos"]}
    return medsim.evaluate(folder / "build", models, folder / out, **(defaults | options))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("noise")
    medsim.build(write_terminology(folder / "names.csv"), folder / "build", negatives=["random"])
    return folder


@pytest.fixture(scope="module")
def evaluation(folder: Path) -> medsim.Evaluation:
    return evaluate(folder, "results")


def rows_of(evaluation: medsim.Evaluation, embedding: str, metric: str = "cos") -> pl.DataFrame:
    statement = "select * from noisy where embedding = ? and metric = ?"
    rows = evaluation.sql(
        statement.replace("?", f"'{embedding}'", 1).replace("?", f"'{metric}'", 1)
    )
    return rows.sort("kind", "n_errors", "term")


def concepts_of(folder: Path) -> dict[str, set[str]]:
    """Return the concepts of each name in lower case."""
    table = medsim.Build(folder / "build").table("description").collect()
    concepts: dict[str, set[str]] = {}
    for concept, term in table.select("concept_id", "term").iter_rows():
        concepts.setdefault(term.lower(), set()).add(concept)
    return concepts


def test_altered_names_are_nearest_to_their_concept_alone(
    folder: Path, evaluation: medsim.Evaluation
) -> None:
    items, concepts = rows_of(evaluation, "letters"), concepts_of(folder)
    names = sorted(concepts)
    distances = cdist(items["noisy_term"].str.to_lowercase(), names, scorer=Levenshtein.distance)

    assert {*items["kind"]} == {*KINDS}
    assert not {"A", "B"} & {*items.filter(kind="spelling")["concept_id"]}
    assert items.group_by("kind", "n_errors").len()["len"].min() >= 30
    assert items.select("kind", "n_errors", "noisy_term", "concept_id").is_unique().all()
    for row, concept in zip(distances, items["concept_id"], strict=True):
        nearest = (names[at] for at in np.flatnonzero(row == row.min()))
        assert {owner for name in nearest for owner in concepts[name]} == {concept}


def by_hand(similar, folder: Path, items: pl.DataFrame, column: str) -> list[int | None]:
    """Return the rank of each item's concept, given a function of two names in lower case."""
    pool, ranks = {*medsim.Build(folder / "build").terms()["term"].str.to_lowercase()}, []
    concepts = {name: owners for name, owners in concepts_of(folder).items() if name in pool}
    for text, noisy, concept in zip(
        *(items[name] for name in (column, "noisy_term", "concept_id")), strict=True
    ):
        others = {name: similar(text, name) for name in concepts if name != noisy.lower()}
        own = max(value for name, value in others.items() if concept in concepts[name])
        n_before = sum(
            value >= own for name, value in others.items() if concept not in concepts[name]
        )
        ranks.append(1 + n_before if n_before < 5 else None)
    return ranks


def nearest_by_hand(similar, folder: Path, items: pl.DataFrame) -> list[str]:
    """Return the nearest name of each altered name, the first in order of text among equals."""
    names = {term.lower(): term for term in medsim.Build(folder / "build").terms()["term"]}
    return [
        min(
            (name for name in names if name != text.lower()),
            key=lambda name: (-similar(text, name), names[name]),
        )
        for text in items["noisy_term"]
    ]


@pytest.mark.sized
@pytest.mark.slow
def test_ranks_are_those_of_a_comparison_with_all_names(
    folder: Path, evaluation: medsim.Evaluation
) -> None:
    spelled = {name: name for name in medsim.Build(folder / "build").terms()["term"]}
    spelled = {name.lower(): name for name in spelled}

    def cosine(text: str, name: str) -> np.float32:
        x, y = letters([text, spelled[name]]).astype(np.float64)
        return np.float32((x @ y) / (np.sqrt(x @ x) * np.sqrt(y @ y)))

    def nearness(text: str, name: str) -> int:
        return -Levenshtein.distance(text.lower(), name)

    for similar, rows in (
        (cosine, rows_of(evaluation, "letters")),
        (nearness, rows_of(evaluation, "baseline", "levenshtein")),
    ):
        some = rows.gather_every(sized(7, 35))
        assert some["rank"].to_list() == by_hand(similar, folder, some, "noisy_term")
        assert some["nearest_term"].str.to_lowercase().to_list() == nearest_by_hand(
            similar, folder, some
        )
        assert some["rank_unaltered"].to_list() == by_hand(similar, folder, some, "term")


def test_accuracies_are_shares_of_the_items(evaluation: medsim.Evaluation) -> None:
    scores, rows = evaluation.robustness(), rows_of(evaluation, "letters")
    every = {(name, metric) for name, metric in scores.select("embedding", "metric").iter_rows()}
    cells = scores.filter(embedding="letters")

    assert every == {("letters", "cos"), ("baseline", "levenshtein"), ("baseline", "tfidf")}
    assert cells.height == 2 * (4 * 2 + 5)
    for cell in cells.iter_rows(named=True):
        n_errors = pl.col("n_errors").eq_missing(pl.lit(cell["n_errors"]))
        items, depth = rows.filter(n_errors, kind=cell["kind"]), int(cell["statistic"][-1])
        assert cell["n_items"] == items.height
        assert cell["value"] == pytest.approx((items["rank"].fill_null(9) <= depth).mean())
        unaltered = (items["rank_unaltered"].fill_null(9) <= depth).mean()
        assert cell["unaltered"] == pytest.approx(unaltered)
        assert cell["low"] <= cell["value"] <= cell["high"]


def test_every_model_gets_the_same_items_in_later_runs_too(
    folder: Path, evaluation: medsim.Evaluation
) -> None:
    names = ["kind", "n_errors", "term", "noisy_term", "concept_id"]
    shown = rows_of(evaluation, "letters").select(names)
    evaluate(folder, "later", noise=["drop"])
    later = evaluate(folder, "later", models={"firsts": firsts}, noise=["drop", "plural"])
    other = evaluate(folder, "other", seed=1, noise=["drop"])

    assert (
        rows_of(later, "firsts")
        .select(names)
        .equals(shown.filter(pl.col("kind").is_in(["drop", "plural"])))
    )
    assert {*rows_of(later, "letters")["kind"]} == {"drop"}
    assert rows_of(evaluation, "baseline", "tfidf").select(names).equals(shown)
    assert not rows_of(other, "letters").select(names).equals(shown.filter(kind="drop"))


def test_tables_and_reports_show_the_accuracy(
    evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    table = medsim.compare(evaluation, "robustness")
    medsim.write_report(evaluation, tmp_path / "report.html")

    assert table.equals(evaluation.robustness())
    assert "Robustness" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_kinds_with_few_names_are_left_out_with_a_warning(tmp_path: Path) -> None:
    medsim.build(
        write_terminology(tmp_path / "names.csv", 3), tmp_path / "build", negatives=["random"]
    )
    evaluation = evaluate(tmp_path, "results", noise=["swap", "accent"])

    line = "fewer than 30 altered names: accent, swap; left out"
    assert line in evaluation.manifest.warnings
    assert evaluation.robustness().is_empty()
    with pytest.raises(InputError, match="evaluate with `noise`"):
        medsim.compare(evaluation, "robustness")


def test_a_build_without_synonyms_has_no_altered_names(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("id,name\n1,fracture\n2,x\n3,%\n", encoding="utf-8")
    medsim.build(
        tmp_path / "names.csv", tmp_path / "build", negatives=["random"], pool="terminology"
    )

    evaluation = evaluate(tmp_path, "results")

    assert evaluation.robustness().is_empty()


def test_noise_needs_retrieval_and_known_kinds(folder: Path) -> None:
    with pytest.raises(OptionError, match="`noise` needs `retrieval`"):
        evaluate(folder, "none", retrieval=False)
    with pytest.raises(OptionError, match="did you mean swap"):
        evaluate(folder, "none", noise=["swpa"])
