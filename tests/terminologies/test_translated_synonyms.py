"""Releases with translated synonyms, but without fully specified names in their language."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from fixtures.release import Release
from fixtures.stores import empty_store
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.progress import Progress
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Terminology, read_terminology

SPANISH = "450828004"
PREFERRED = ("Fiebre 1", "calentura 2")
Names = dict[tuple[str, str], str]


def translated_release() -> Release:
    """Return an English release whose concepts 1 to 3 have Spanish synonyms, 6 being retired."""
    release = Release()
    for number in "123456":
        release.concept(f"100{number}", active=number != "6", time="20190131")
        names = [("en", f"Velp {number} fever (disorder)"), ("en", f"{number} pyrexia")]
        if number in "123":
            names += [("es", f"{name} {number}") for name in ("pirexia", "Fiebre", "calentura")]
        for place, (language, name) in enumerate(names):
            own_id, kind = f"6{place}{number}", "fsn" if place == 0 else "synonym"
            release.description(
                f"100{number}", name, kind, language=language, id=own_id, time="20190131"
            )
            state = "preferred" if name in PREFERRED or place == 1 else "acceptable"
            dialect = SPANISH if language == "es" else "en-US"
            release.accepted(own_id, dialect, state, time="20190131")
    release.association("1006", "1001", time="20190131")
    release.association("1004", "1005", "replaced_by", time="20190131")
    return release


def names_in(path: Path, **options: object) -> tuple[Terminology, Names]:
    """Return the facts about a release, and its main names by concept and language."""
    options.setdefault("language", "es")
    with empty_store() as store:
        terminology = read_terminology(str(path), store, ReadingOptions(**options), Progress())
        names = store.table("description").filter("active", kind="fsn").sort("description_id")
        assert store.table("description")["description_id"].is_sorted()
        tags = store.table("concept")["semantic_tag"].to_list()
    assert set(tags) <= {"disorder", ""}
    rows = names.select("concept_id", "language", "term").rows()
    return terminology, {(concept, language): term for concept, language, term in rows}


MAIN = {
    ("1001", "es"): "Fiebre 1",
    ("1002", "es"): "calentura 2",
    ("1003", "es"): "Velp 3 fever",  # no name is preferred
    **{(f"100{number}", "es"): f"Velp {number} fever" for number in "456"},
}


@pytest.mark.parametrize("form", ["Full", "Snapshot", ""])
def test_the_main_name_is_the_preferred_synonym_or_else_the_name_in_another_language(
    tmp_path: Path, form: str
) -> None:
    path = translated_release().write_zip(tmp_path / "release.zip", form)

    terminology, names = names_in(path)

    english = {(f"100{number}", "en"): f"Velp {number} fever" for number in "123456"}
    assert names == MAIN | english
    (warning,) = terminology.warnings
    assert warning == (
        "no concept has a fully specified name in 'es'; main names are 4 fully specified names in "
        "another language and 2 preferred synonyms"
    )
    counts = {rows.reason: rows.n_rows for rows in terminology.skipped}
    assert counts["main names are preferred synonyms"] == 2
    assert counts["main names are fully specified names in another language"] == 4
    assert any("Language" in file.name for file in terminology.files)


def test_preferences_are_those_of_the_given_day(tmp_path: Path) -> None:
    release = translated_release()
    release.accepted("631", SPANISH, "acceptable")
    release.accepted("621", SPANISH, "preferred")
    path = release.write_zip(tmp_path / "release.zip", "Full")

    assert names_in(path)[1]["1001", "es"] == "pirexia 1"
    assert names_in(path, as_of=date(2019, 12, 31))[1]["1001", "es"] == "Fiebre 1"


@pytest.mark.parametrize("lacks", ["file", "members"])
def test_without_preferences_the_first_synonym_is_the_main_name(tmp_path: Path, lacks: str) -> None:
    release = translated_release()
    if lacks == "members":
        release.rows["language"] = [row for row in release.rows["language"] if SPANISH not in row]
    path = release.write_folder(tmp_path, "Snapshot")
    if lacks == "file":
        next(path.rglob("*_Language*")).unlink()

    terminology, names = names_in(path)

    firsts = {(f"100{number}", "es"): f"pirexia {number}" for number in "123"}
    assert {at: name for at, name in names.items() if at[1] == "es"} == MAIN | firsts
    assert "main names are 3 first synonyms and 3 fully" in terminology.warnings[0]


def test_a_dialect_gives_the_preferred_names(tmp_path: Path) -> None:
    path = translated_release().write_zip(tmp_path / "release.zip", "Snapshot")

    names = names_in(path, dialect=SPANISH)[1]

    assert names == {at: MAIN[at] for at in (("1001", "es"), ("1002", "es"))}


def test_one_fully_specified_name_in_the_language_adds_no_others_and_has_a_warning(
    tmp_path: Path,
) -> None:
    release = translated_release()
    release.description("1002", "Fiebre vélpica (trastorno)", language="es")
    path = release.write_folder(tmp_path, "Snapshot")
    next(path.rglob("*_Language*")).write_text("never read")

    with empty_store() as store:
        options = ReadingOptions(language="es")
        terminology = read_terminology(str(path), store, options, Progress())
        names = store.table("description").filter(kind="fsn", language="es")

    assert names["term"].to_list() == ["Fiebre vélpica"]
    (warning,) = terminology.warnings
    assert warning == (
        "only 1 of 3 concepts with names in 'es' have a fully specified name in it; the others are "
        "left out"
    )


def test_names_of_retired_and_model_concepts_do_not_count_as_names_of_the_language(
    tmp_path: Path,
) -> None:
    release = translated_release()
    release.description("1006", "Fiebre retirada (disorder)", language="es")
    release.concept("2000", module="900000000000012004")
    release.description("2000", "Módulo (disorder)", language="es")
    path = release.write_zip(tmp_path / "release.zip", "Snapshot")

    names = names_in(path)[1]

    expected = MAIN | {("1006", "es"): "Fiebre retirada", ("2000", "es"): "Módulo"}
    assert {at: name for at, name in names.items() if at[1] == "es"} == expected


def test_other_formats_take_the_first_synonym_too(tmp_path: Path) -> None:
    concepts = [
        {
            "code": code,
            "display": f"Velp {code}",
            "designation": [
                {"language": "es", "use": {"code": "synonym"}, "value": f"{name} {code}"}
                for name in names
            ],
        }
        for code, names in {"a": ("velpa", "Fiebre"), "b": ()}.items()
    ]
    system = {"resourceType": "CodeSystem", "url": "http://x.org", "language": "en"}
    path = tmp_path / "codes.json"
    path.write_text(json.dumps({**system, "content": "complete", "concept": concepts}))

    names = names_in(path)[1]

    assert {at: name for at, name in names.items() if at[1] == "es"} == {
        ("a", "es"): "velpa a",
        ("b", "es"): "Velp b",
    }


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("translated")
    return translated_release().write_zip(folder / "release.zip", "Snapshot")


@pytest.fixture(scope="module")
def builds(release: Path) -> dict[str, medsim.Build]:
    return {
        languages: medsim.build(release, release.parent / languages, language=languages)
        for languages in ("es", "es,en", "en")
    }


def positives(build: medsim.Build, dataset: str) -> list[tuple[str, str]]:
    rows = build.sql("select distinct dataset, term1, term2 from pair where label = 1")
    return sorted(rows.filter(dataset=dataset).select("term1", "term2").rows())


@pytest.mark.some(1)
@pytest.mark.parametrize("languages", ["es", "es,en"])
def test_a_build_has_pairs_of_the_main_names(
    builds: dict[str, medsim.Build], languages: str
) -> None:
    build = builds[languages]

    assert positives(build, "fsn_syn") == [
        ("Fiebre 1", "calentura 1"),
        ("Fiebre 1", "pirexia 1"),
        ("Velp 3 fever", "Fiebre 3"),
        ("Velp 3 fever", "calentura 3"),
        ("Velp 3 fever", "pirexia 3"),
        ("calentura 2", "Fiebre 2"),
        ("calentura 2", "pirexia 2"),
    ]
    assert positives(build, "same_as") == [("Velp 6 fever", "Fiebre 1")]
    assert positives(build, "replaced_by") == [("Velp 4 fever", "Velp 5 fever")]
    assert any("main names are" in warning for warning in build.manifest.warnings)
    assert medsim.verify(build).holds


def test_a_main_name_from_another_language_has_no_pair_across_languages(
    builds: dict[str, medsim.Build],
) -> None:
    spanish = [(name, number) for number in "123" for name in ("Fiebre", "calentura", "pirexia")]
    assert positives(builds["es,en"], "cross_language") == sorted(
        (f"{name} {number}", other)
        for name, number in spanish
        for other in (f"Velp {number} fever", f"{number} pyrexia")
    )


def test_the_build_in_english_has_no_such_names(
    builds: dict[str, medsim.Build], tmp_path: Path
) -> None:
    english = translated_release()
    english.rows["description"] = [row for row in english.rows["description"] if row[5] == "en"]
    other = medsim.build(english.write_zip(tmp_path / "english.zip", "Snapshot"), tmp_path / "out")

    pairs = "select * from pair order by all"
    assert builds["en"].sql(pairs).equals(other.sql(pairs))
    assert not any("main names" in warning for warning in builds["en"].manifest.warnings)


def test_other_commands_use_the_main_names(
    builds: dict[str, medsim.Build], release: Path, tmp_path: Path
) -> None:
    for languages in ("es", "es,en"):
        audit = medsim.audit(builds[languages], tmp_path / "audit", overwrite=True)
        found = audit.findings()
        assert set(found["kind"]) == {"number"}
        assert ("Velp 3 fever", "Velp 4 fever") in found.select("main_name1", "main_name2").rows()

    assert medsim.nearest(["fiebra 1"], builds["es"])["match"].to_list() == ["Fiebre 1"]
    diff = medsim.diff(builds["es"], builds["es"], tmp_path / "diff")
    assert not any(diff.table(name).height for name in ("name", "concept"))
    rows = medsim.convert(release, tmp_path / "converted.zip", language="es")
    assert rows.filter(table="description")["rows"].item() == 9 + 4
    again = names_in(tmp_path / "converted.zip")[1]
    assert again == MAIN


def test_questions_and_links_are_in_the_language(
    builds: dict[str, medsim.Build], release: Path, tmp_path: Path
) -> None:
    options = ["--choices", "2", "--private", "-o", str(tmp_path / "exported")]
    export = ["export", str(builds["es"].folder), "--for", "lm-eval", *options]
    result = CliRunner().invoke(app, export)
    assert result.exit_code == 0, result.stderr

    text = "d|t|Fiebre 1 and Velp 4 fever"
    mentions = [
        "d\t0\t8\tFiebre 1\tDisease\tSNOMEDCT_US:1001",
        "d\t13\t25\tVelp 4 fever\tDisease\tSNOMEDCT_US:1004",
    ]
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join([text, "d|a|", *mentions]) + "\n", encoding="utf-8")
    for terminology in (release, builds["es"].folder):
        options = {"language": "es", "overwrite": True}
        linked = medsim.link([corpus], terminology, {}, tmp_path / "linked", **options)
        exact = linked.sql("select * from link where model = 'exact'")
        assert exact.height == 2
