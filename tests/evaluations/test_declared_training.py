"""What models were trained on, as users declare it, and the terminologies that it contains."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import medsim
from medsim.core.terms import lowered
from medsim.evaluations.training_data import trained_here, warnings_of_leaks

HPO = ("results", "hp.obo", "HPO")
MONDO = ("mondo", "mondo", None)
OWN = ("mine", "my terms.csv", None)
DATA = tomllib.loads(
    (files("medsim.evaluations") / "training_data.toml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (None, "not stated"),
        ("HPO", "yes"),
        ("hpo-train", "yes"),
        ("hp.obo", "yes"),
        ("hp.obo.gz", "yes"),
        ("Human Phenotype Ontology", "yes"),
        ("human_phenotype_ontology v2025-01-16", "yes"),
        ("the train split of hpo", "yes"),
        ("the synonyms of HPO 2025", "yes"),
        ("UMLS", "yes"),
        ("UMLS 2020AA", "yes"),
        ("2020AA UMLS", "yes"),
        ("Unified Medical Language System", "yes"),
        ("PubMed + UMLS", "yes"),
        ("something+umls", "yes"),
        ("not HPO", "unknown"),
        ("non-HPO", "unknown"),
        ("UMLS without HPO", "unknown"),
        ("all of UMLS except SNOMED CT, HPO", "unknown"),
        ("shpo", "unknown"),
        ("HPO-like terms", "unknown"),
        ("SNOMED CT", "unknown"),
        ("Mondo", "unknown"),
        ("1.17 billion sentence pairs", "unknown"),
        ("PubMed+something", "unknown"),
        ("", "unknown"),
        ("the train split", "unknown"),
        ("PubMed", "no"),
        ("Wikipedia 2014+Gigaword 5", "no"),
        ("MIMIC-III", "no"),
        ("nothing", "no"),
    ],
)
def test_declared_sources_contain_the_terminology_or_not(
    declared: str | None, expected: str
) -> None:
    assert trained_here(declared, *HPO) == expected


@pytest.mark.parametrize(
    ("declared", "names", "expected"),
    [
        ("UMLS", MONDO, "unknown"),
        ("MONDO Disease Ontology", MONDO, "yes"),
        ("HPO", ("umls", "META", "UMLS"), "yes"),
        ("mine-train", OWN, "yes"),
        ("My Terms", OWN, "yes"),
        ("UMLS", OWN, "unknown"),
        ("Wikipedia", OWN, "no"),
        ("go-basic.obo", ("test", "go-basic.obo", None), "yes"),
        ("train", ("test", "test.csv", None), "unknown"),
        ("terms", ("out", "terms", None), "yes"),
        ("ICD-10-CM", ("x", "x", "ICD10"), "unknown"),
        ("ICD-10 2019", ("x", "x", "ICD10"), "yes"),
        ("Cafe\N{COMBINING ACUTE ACCENT}", ("caf\N{LATIN SMALL LETTER E WITH ACUTE}",), "yes"),
    ],
)
def test_a_terminology_is_known_by_its_vocabulary_its_source_or_the_name_of_its_build(
    declared: str, names: tuple[str | None, ...], expected: str
) -> None:
    assert trained_here(declared, *names) == expected


def test_no_name_is_that_of_two_sources_and_only_known_sources_are_contained() -> None:
    named = [
        (lowered([name])[0], source)
        for kind in ("terminologies", "texts")
        for source, aliases in DATA[kind].items()
        for name in {source.lower(), *(alias.lower() for alias in aliases)}
    ]
    parts = {part for parts in DATA["contains"].values() for part in parts}

    assert len(dict(named)) == len(named)
    assert {*DATA["contains"], *parts} <= {*DATA["terminologies"]}
    for name, source in named:
        of_text = source in DATA["texts"]
        assert trained_here(name, source) == "yes"
        assert trained_here(name, "another") == ("no" if of_text else "unknown")


def leaks(declared: str | None, split: str | None = None) -> list[str]:
    source = {"name": "hpo", "vocabulary": "HPO"}
    about = {"source": source, "options": {"split": {"name": split}} if split else {}}
    model = {} if declared is None else {"trained_on": declared}
    rated = {"kind": "rated", "options": {}}
    return list(warnings_of_leaks({"board": about, "hpo": rated}, {"mine": model}))


@pytest.mark.parametrize(
    ("declared", "split", "is_leak"),
    [
        ("hpo-train", None, True),
        ("hpo-train", "train", True),
        ("the training split of HPO+PubMed", "train", True),
        ("hpo-train", "test", False),
        ("HPO_train", "validation", False),
        ("hpo", "test", True),
        ("hpo", None, True),
        ("UMLS", "test", True),
        ("UMLS train", "test", True),
        ("UMLS2020AA training split", "test", True),
        ("UMLS;PubMed", None, True),
        ("PubMed", None, False),
        ("not HPO", None, False),
        (None, None, False),
    ],
)
def test_a_model_scored_on_names_of_its_training_data_has_a_warning(
    declared: str | None, split: str | None, *, is_leak: bool
) -> None:
    found = leaks(declared, split)

    assert len(found) == is_leak
    if is_leak:
        assert found[0].startswith("mine was trained on ")
        assert ", which has names of board, so its scores may be too high; " in found[0]


@pytest.mark.parametrize(
    ("split", "is_leak"), [("train", True), ("test", False), ("validation", False), (None, False)]
)
def test_a_train_split_of_an_unknown_name_may_be_the_one_that_is_scored(
    split: str | None, *, is_leak: bool
) -> None:
    found = leaks("B-train", split)

    assert len(found) == is_leak
    assert all("B-train, which may have names of board" in sentence for sentence in found)


@pytest.mark.full
def test_an_evaluation_warns_of_the_whole_build_and_not_of_its_test_split(
    shared_evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    inputs = shared_evaluation.folder.parent
    splits = medsim.split(inputs / "build", tmp_path / "splits", ratios="50/50")
    models = {"one": f"{inputs / 'one.vec'},trained_on=PubMed+SNOMED CT train"}

    found = {
        name: medsim.evaluate(build, models, tmp_path / name).manifest.warnings
        for name, build in (("whole", inputs / "build"), *((n, splits[n]) for n in splits.names))
    }

    is_warned = {
        name: any("one was trained on" in warning for warning in warnings)
        for name, warnings in found.items()
    }
    assert is_warned == {"whole": True, "train": True, "test": False}
