"""Verification of words in context finds every broken rule, with provenance and without."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fixtures.wic_folder import Rows, WicFolder, side
from typer.testing import CliRunner

from medsim.cli import app
from medsim.core.errors import InputError, OptionError
from medsim.wic import GROUPS
from medsim.wic.verify import verify_wic as verify

if TYPE_CHECKING:
    from medsim.wic.output import Benchmark


DATA = os.environ.get("MEDSIM_DATA")
FIRST = ("sentence1", "term1", "start1", "end1")


def test_a_correct_folder_passes_with_and_without_provenance(tmp_path: Path) -> None:
    built = verify(WicFolder().write(tmp_path / "built"))
    published = verify(WicFolder().write_json(tmp_path / "published"))

    assert built.broken == published.broken == []
    assert built.breaches.is_empty()
    assert built.holds
    assert published.findings.filter(example="not checked: no terminology was given").height == 3
    quota = published.findings.filter(check="quota", split="test")["example"].item()
    assert quota == (
        "smaller than published: term_identity 1 of 400, abbreviations 1 of 100, "
        "synonyms 1 of 400, label_similarity 1 of 100"
    )


def replaced(rows: Rows, number: int, **values: object) -> None:
    rows[number] = {**rows[number], **values}


def both_sides(term1: str, term2: str, day: int) -> dict[str, object]:
    return {**side(1, term1, day, "c"), **side(2, term2, day + 1000, "d")}


def with_term(rows: Rows, number: int, which: int, term: str) -> None:
    """Give an instance another term, in its sentence too."""
    day = str(rows[number][f"sentence{which}"]).rsplit(" ", 1)[1].removesuffix(".")
    changed = side(which, term, int(day), str(rows[number][f"concept{which}"]))
    replaced(rows, number, **changed)


def with_values(split: str, number: int, **values: object) -> Callable[[WicFolder], None]:
    """Return a change that gives an instance other values."""
    return lambda folder: replaced(folder.splits[split], number, **values)


def checked_terms(split: str, number: int, *terms: str | None) -> Callable[[WicFolder], None]:
    """Return a change that gives an instance other terms; None keeps a term."""

    def change(folder: WicFolder) -> None:
        for which, term in enumerate(terms, start=1):
            if term is not None:
                with_term(folder.splits[split], number, which, term)

    return change


def ends_after_its_sentence(folder: WicFolder) -> None:
    rows = folder.splits["dev"]
    longer = "chronic telorits."  # the term is still at its offsets
    sentence = f"Those with {longer}"
    replaced(rows, 6, sentence1=sentence, term1=longer, end1=len(sentence) + 1)


def has_one_sentence_twice(folder: WicFolder) -> None:
    rows = folder.splits["train"]
    text = "First dovak Fevers, then dovak fever."
    replaced(rows, 1, term1="dovak Fevers", sentence1=text, start1=6, end1=18)
    replaced(rows, 1, term2="dovak fever", sentence2=text, start2=25, end2=36)


has_more_true_instances = with_values("train", 3, label=1)


def has_more_than_published(folder: WicFolder) -> None:
    for n in range(200):
        stem = f"quarn{chr(97 + n // 20)}{chr(97 + n % 20)}k"  # all have different lemmas
        last = side(1, f"{stem} of the far end", 1000 + n, "c")
        other = side(2, "qotfe", 2000 + n, "c")
        row = {"split": "test", **last, **other, "cat": "abbreviations", "label": n % 2}
        folder.splits["test"].append(row)


def has_another_mention_elsewhere(folder: WicFolder) -> None:
    text = "First dovak Fevers, then brin fever."
    replaced(folder.splits["train"], 1, term1="dovak Fevers", sentence1=text, start1=6, end1=18)
    replaced(folder.splits["train"], 0, term1="brin fever", sentence1=text, start1=25, end1=35)


def is_there_twice_mirrored(folder: WicFolder) -> None:
    for number in (0, 1):
        row = folder.splits["dev"][number]
        mirrored = {name: row[name.translate(str.maketrans("12", "21"))] for name in row}
        folder.splits["train"].append({**mirrored, "split": "train"})


def has_a_sentence_101_times(folder: WicFolder) -> None:
    rows = folder.splits["train"]
    rows += [{**rows[0], **side(2, "brin Fevers", 500 + n, "c")} for n in range(100)]
    rows += [{**rows[1], **both_sides("dovak fever", "dovak Fevers", 700 + n)} for n in range(100)]


def has_a_sentence_101_times_in_train_and_dev(folder: WicFolder) -> None:
    has_a_sentence_101_times(folder)
    rows = folder.splits["train"]
    folder.splits["dev"] += [{**row, "split": "dev"} for row in [*rows[57:107], *rows[157:207]]]
    del rows[157:207], rows[57:107]


def has_a_sentence_twice(folder: WicFolder) -> None:
    rows = folder.splits["test"]
    replaced(rows, 6, **{name: rows[0][name] for name in FIRST}, **side(2, "zirelo fever", 90, "c"))


def has_terms_twice(folder: WicFolder) -> None:
    rows = folder.splits["test"]
    for label in (0, 1):
        again = both_sides("ZIREL FEVERS", "zirel fever", 700 + label)
        rows.append({**rows[0], **again, "label": label})


def leaks_a_sentence(folder: WicFolder) -> None:
    first = {name: folder.splits["test"][0][name] for name in FIRST}
    replaced(folder.splits["train"], 6, **first, **side(2, "zirelo fever", 90, "c"))


leaks_terms = checked_terms("dev", 2, "ZOTOW", "zirel of the outer wall")


def test_a_sentence_may_be_in_train_a_hundred_times(tmp_path: Path) -> None:
    folder = WicFolder()
    has_a_sentence_101_times(folder)
    del folder.splits["train"][107:109]  # the last True instance, and a False one

    assert verify(folder.write_json(tmp_path / "out")).holds


def test_a_terminology_defines_the_synonyms(tmp_path: Path) -> None:
    names = {
        "t1": ("Zirelosis", "Wet lung after ZIREL"),
        "t2": ("Chronic zirelitis", "other"),
        "t3": ("fontarosis", "wet lung after fontar"),
    }
    terms = [
        f'\n[Term]\nid: X:{key}\nname: {name}\nsynonym: "{synonym}" EXACT []\n'
        for key, (name, synonym) in names.items()
    ]
    terms.append("is_obsolete: true\n")  # of the last
    (tmp_path / "names.obo").write_text("format-version: 1.2\n" + "".join(terms), encoding="utf-8")
    test = WicFolder().write_json(tmp_path / "out") / "test.json"

    outcome = verify(test, terminology=str(tmp_path / "names.obo"))

    assert outcome.broken == ["synonyms"]
    with pytest.raises(OptionError, match=r"`extensions` other\.zip: .* takes only mappings"):
        verify(test, terminology=str(tmp_path / "names.obo"), extensions=["other.zip"])
    (breach,) = outcome.breaches.iter_rows(named=True)
    assert breach["term1"] == "fontarosis"
    assert breach["instance"] == 6
    assert breach["found"] == "in synonyms, by the rules in none"


def test_the_split_of_a_file_comes_from_its_name(tmp_path: Path) -> None:
    test = WicFolder().write_json(tmp_path / "out") / "test.json"
    named, unnamed = tmp_path / "BioWiC_Test-2.json", tmp_path / "latest.json"
    for path in (named, unnamed):
        path.write_bytes(test.read_bytes())

    assert set(verify(named).findings["split"]) == {"test"}
    with pytest.raises(InputError, match=r"latest\.json has no train, dev or test; rename it"):
        verify(unnamed)
    with pytest.raises(InputError, match=r"it has no train\.json, dev\.json, test\.json"):
        verify(tmp_path)


def test_a_single_split_is_checked_alone(tmp_path: Path) -> None:
    folder = WicFolder()
    leaks_terms(folder)
    out = folder.write_json(tmp_path / "out")

    alone, together = verify(out / "dev.json"), verify(out)

    assert alone.holds
    assert (
        alone.findings.filter(example="not checked: no test split")["checked"].to_list() == [0] * 3
    )
    assert together.broken == ["leaked_pair", "leaked_lemma_pair"]


def test_the_command_lists_violations_and_ends_with_3(tmp_path: Path) -> None:
    folder = WicFolder()
    has_more_true_instances(folder)
    bad = folder.write_json(tmp_path / "bad")

    failed = CliRunner().invoke(app, ["wic", "verify", str(bad), "--list", "--format", "json"])

    assert failed.exit_code == 3
    assert [row["check"] for row in json.loads(failed.stdout)] == ["balance"]
    assert "balance do not hold" in failed.stderr


@pytest.mark.skipif(DATA is None, reason="MEDSIM_DATA is not set")
def test_the_published_dev_split_has_the_known_violations() -> None:
    outcome = verify(Path(str(DATA)) / "wic" / "biowic-dev.json")

    assert outcome.broken == ["group", "lemma", "similarity"]
    counts = dict(outcome.findings.select("check", "violations").iter_rows())
    assert counts["group"] == 6  # one letter counts as a synonym of a word
    assert counts["similarity"] == 33  # down to a ratio of 0.70


def test_repeats_are_limited_by_the_manifest(shared_benchmark: Benchmark, tmp_path: Path) -> None:
    folder = shutil.copytree(shared_benchmark.folder, tmp_path / "wic")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["options"]["max_repeats"] == 100
    manifest["options"]["max_repeats"] = 1
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    assert verify(folder).broken == ["sentence_limit"]


def labels_one_concept_false(folder: WicFolder) -> None:
    row = folder.splits["dev"][1]
    (mention,) = (each for each in folder.mentions if each["concept_id"] == row["concept2"])
    row["concept2"] = mention["concept_id"] = row["concept1"]


def keeps_two_mentions_of_a_sentence(folder: WicFolder) -> None:
    folder.mentions.append({**folder.mentions[0], "start": 0, "end": 5, "term": "Those"})


def pairs_concepts_that_are_left_out(folder: WicFolder) -> None:
    concepts = ("other synonyms fontar", "synonyms fontar")
    folder.related.append({"concept1": concepts[0], "concept2": concepts[1], "relation": "broader"})


def has_synonyms_that_none_bears(folder: WicFolder) -> None:
    folder.names = [name for name in folder.names if name["term"] != "zirelosis"]


def has_similar_labels_that_one_bears(folder: WicFolder) -> None:
    names = ("chronic zirelitis", "chronic zirelitus")
    folder.names += [{"term": name, "concept_id": "one"} for name in names]


def promises_other_numbers(folder: WicFolder) -> None:
    folder.quotas = {"test": dict.fromkeys(GROUPS, 2)}


OF_FILES = [
    (ends_after_its_sentence, ["offsets"]),
    (with_values("dev", 0, start1=9, end1=9), ["offsets", "term"]),
    (with_values("test", 0, start2=10, end2=20), ["term"]),
    (has_one_sentence_twice, ["two_sentences", "one_mention"]),
    (checked_terms("train", 4, "WLAB", "wet lung after brin"), ["group"]),
    (checked_terms("test", 0, None, "zirel feverish"), ["lemma"]),
    (checked_terms("test", 6, "chronic zirelitis cell", "chronic zirelitis cells"), ["lemma"]),
    (checked_terms("dev", 6, "telo", "telx"), ["similarity"]),
    (has_more_true_instances, ["balance"]),
    (has_more_than_published, ["quota"]),
    (has_another_mention_elsewhere, ["one_mention"]),
    (is_there_twice_mirrored, ["repeated_instance"]),
    (has_a_sentence_101_times, ["sentence_limit"]),
    (has_a_sentence_101_times_in_train_and_dev, ["sentence_limit"]),
    (has_a_sentence_twice, ["repeated_sentence"]),
    (has_terms_twice, ["repeated_pair", "repeated_lemma_pair"]),
    (leaks_a_sentence, ["leaked_sentence"]),
    (leaks_terms, ["leaked_pair", "leaked_lemma_pair"]),
    (checked_terms("dev", 2, "zotow", "zirel of the outer walls"), ["leaked_lemma_pair"]),
]
OF_FOLDERS = [
    (labels_one_concept_false, ["label"]),
    (keeps_two_mentions_of_a_sentence, ["one_row"]),
    (pairs_concepts_that_are_left_out, ["excluded"]),
    (has_synonyms_that_none_bears, ["synonyms"]),
    (has_similar_labels_that_one_bears, ["synonyms"]),
    (promises_other_numbers, ["quota"]),
]


@pytest.mark.parametrize(
    ("write", "change", "broken"),
    [(WicFolder.write_json, *case) for case in OF_FILES]
    + [(WicFolder.write, *case) for case in OF_FOLDERS],
)
def test_a_broken_rule_is_named(write, change, broken: list[str], tmp_path: Path) -> None:
    folder = WicFolder()
    change(folder)

    outcome = verify(write(folder, tmp_path / "out"))

    assert outcome.broken == broken
    assert outcome.findings["violations"].sum() == outcome.breaches.height


def test_a_changed_file_is_named(tmp_path: Path) -> None:
    out = WicFolder().write(tmp_path / "out")
    path = out / "dev.json"
    path.write_text(path.read_text().replace("on day", "in May"), encoding="utf-8")

    outcome = verify(out)

    assert outcome.broken == ["outputs"]
    assert outcome.breaches["found"].to_list() == ["dev.json differs from the manifest"]


@pytest.mark.parametrize("name", ["instances.parquet", "relations/name.parquet", "train.json"])
def test_a_file_missing_from_the_folder_or_manifest_is_named(name: str, tmp_path: Path) -> None:
    out = WicFolder().write(tmp_path / "out")
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["outputs"]["relations/related.parquet"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    (out / name).unlink()

    outcome = verify(out)

    assert outcome.broken == ["outputs"]
    missing, unknown = sorted(outcome.breaches["found"], key=lambda fault: "is not in" in fault)
    assert missing.startswith(f"{name} cannot be read")
    assert unknown == "relations/related.parquet is not in the manifest"
