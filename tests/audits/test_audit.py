"""Findings of audits: each kind once, none on clean names, and all near names."""

from __future__ import annotations

import csv
import random
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from fixtures.release import Release
from rapidfuzz.distance import Levenshtein
from typer.testing import CliRunner

import medsim
from medsim.audits import KINDS, SEVERITIES
from medsim.cli import app

if TYPE_CHECKING:
    from pathlib import Path

Names = "Mapping[str, Sequence[str]]"
CLEAN = {
    "A:1": ["Painful shoulder", "Shoulder ache"],
    "A:2": ["Kidney stone", "Renal calculus"],
    "A:3": ["Fever of unknown origin"],
}
PLANTED = {
    "same_name": {"B:1": ["Tired feeling"], "B:2": ["Fatigue", "Tired feeling"]},
    "case": {"B:1": ["Tired feeling"], "B:2": ["Fatigue", "Tired Feeling"]},
    "space": {"B:1": ["Tooth ache today"], "B:2": ["Toothache today"]},
    "hyphen": {"B:1": ["Non-word repetition"], "B:2": ["Nonword repetition"]},
    "accent": {"B:1": ["Ménière disease"], "B:2": ["Meniere disease"]},
    "punctuation": {"B:1": ["Fracture, open"], "B:2": ["Fracture open"]},
    "word_order": {"B:1": ["Lobe of the left lung"], "B:2": ["Left lobe of the lung"]},
    "plural": {"B:1": ["Desmoid tumor"], "B:2": ["Desmoid tumors"]},
    "spelling": {"B:1": ["Anaemia of infancy"], "B:2": ["Anemia of infancy"]},
    "typo": {
        "B:1": ["Hepatomegaly of childhood"],
        "B:2": ["Hepatomegally of childhood"],
        "B:3": ["Hepatomegaly in pregnancy"],
        "B:4": ["Massive hepatomegaly"],
    },
    "letter": {"B:1": ["Abnormal ileum shape"], "B:2": ["Abnormal ilium shape"]},
    "number": {"B:1": ["Diabetes type 1"], "B:2": ["Diabetes type 2"]},
    "roman": {"B:1": ["Collagen type II"], "B:2": ["Collagen type III"]},
    "code": {"B:1": ["Hepatitis A infection"], "B:2": ["Hepatitis B infection"]},
    "side": {"B:1": ["Bilateral cleft lip"], "B:2": ["Unilateral cleft lip"]},
    "negation": {"B:1": ["Typical absence seizure"], "B:2": ["Atypical absence seizure"]},
    "opposite": {"B:1": ["Hyperkalemia in blood"], "B:2": ["Hypokalemia in blood"]},
    "other": {"B:1": ["Cervical dysplasia"], "B:2": ["Cortical dysplasia"]},
    "spacing": {"B:1": ["Swollen  ankle"]},
    "brackets": {"B:1": ["Swollen ankle (left"]},
    "mixed_scripts": {"B:1": ["Swollen \u0430nkle"]},
    "characters": {"B:1": ["Swollen ank\u00adle"]},
    "last_character": {"B:1": ["Swollen ankle,"]},
    "listed_twice": {"B:1": ["Swollen ankle", "Ankle", "Ankle"]},
    "repeated": {"B:1": ["Swollen ankle", "swollen ankle"]},
}
"""Names of concepts with one finding of each kind; the first name is the main name."""


def write_obo(path: Path, names: Names, more: str = "") -> Path:
    """Write an ontology in which the first name of each concept is its main name."""
    stanzas = [
        "\n".join(
            ["[Term]", f"id: {concept}", f"name: {terms[0]}"]
            + [f'synonym: "{term}" EXACT []' for term in terms[1:]]
        )
        for concept, terms in names.items()
    ]
    path.write_text("\n\n".join(["format-version: 1.2", *stanzas, more]) + "\n", encoding="utf-8")
    return path


def audited(folder: Path, names: Names, more: str = "", **options: object) -> medsim.Audit:
    source = write_obo(folder / "names.obo", names, more)
    return medsim.audit(source, folder / "audit", overwrite=True, **options)


def kinds_of(audit: medsim.Audit) -> list[str]:
    return audit.findings()["kind"].to_list()


def test_clean_names_have_no_findings(tmp_path: Path) -> None:
    assert kinds_of(audited(tmp_path, CLEAN)) == []


@pytest.mark.some(8)
@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_fault_is_found_once(tmp_path: Path, kind: str) -> None:
    assert kinds_of(audited(tmp_path, {**CLEAN, **PLANTED[kind]})) == [kind]


def test_a_name_is_listed_twice_if_the_source_has_the_same_text_twice(tmp_path: Path) -> None:
    names = {
        "B:1": ["Caf\u00e9 ankle", "Cafe\u0301 ankle", "Swollen ankle", "Swollen ankle"],
        "B:2": ["Kidney of caf\u00e9", "kidney of cafe\u0301"],
    }

    found = audited(tmp_path, names, only=["listed_twice", "repeated"]).findings()

    assert found.select("kind", "concept1", "term1", "term2", "concept2").rows() == [
        ("listed_twice", "B:1", "Cafe\u0301 ankle", "Caf\u00e9 ankle", "B:1"),
        ("listed_twice", "B:1", "Swollen ankle", "Swollen ankle", "B:1"),
        ("repeated", "B:2", "Kidney of caf\u00e9", "kidney of cafe\u0301", "B:2"),
    ]


def test_a_name_in_two_languages_or_with_a_semantic_tag_is_not_listed_twice(tmp_path: Path) -> None:
    release = Release()
    release.named("10", "Coma (finding)", "Coma")
    release.named("20", "Velpish coma (finding)", "Deep coma", "Deep coma")
    release.description("10", "Coma", language="es")
    release.write_zip(tmp_path / "release.zip")
    build = medsim.build(tmp_path / "release.zip", tmp_path / "build", language="en,es")

    for source in (tmp_path / "release.zip", build):
        found = medsim.audit(source, tmp_path / "audit", overwrite=True).findings()
        assert found.select("kind", "term1").rows() == [("listed_twice", "Deep coma")]


def test_a_release_without_names_of_active_concepts_is_an_error(tmp_path: Path) -> None:
    source = write_obo(tmp_path / "names.obo", {"B:1": ["Sore ankle\nis_obsolete: true"]})

    result = CliRunner().invoke(app, ["audit", str(source), "-o", str(tmp_path / "audit")])

    assert (result.exit_code, result.stdout) == (1, "")
    assert "error: names.obo has no names of active concepts to compare" in result.stderr


def test_a_retired_name_is_found_without_an_association(tmp_path: Path) -> None:
    retired = "[Term]\nid: B:1\nname: obsolete Kidney stone\nis_obsolete: true\n"

    lone = audited(tmp_path, CLEAN, retired).findings()
    joined = audited(tmp_path, CLEAN, f"{retired}replaced_by: A:2\n").findings()

    assert lone.select("kind", "concept1", "concept2", "term1").rows() == [
        ("retired_name", "B:1", "A:2", "Kidney stone")
    ]
    assert lone["main_name1"].to_list() == ["Kidney stone"]
    assert joined.is_empty()


def test_names_that_a_chain_of_positives_links_are_not_near(tmp_path: Path) -> None:
    names = {"B:1": ["Diabetes type 1", "Sugar"], "B:2": ["Diabetes type 2", "Sugar"]}

    assert kinds_of(audited(tmp_path, names)) == ["same_name"]


@pytest.mark.some(2)
@pytest.mark.parametrize("distance", [1, 2, 3, 4])
def test_near_names_are_those_of_brute_force(tmp_path: Path, distance: int) -> None:
    drawn = random.Random(distance)  # noqa: S311 — no secret
    texts = {
        "".join(drawn.choices("abc", k=drawn.choice([3, 6, 8, 9, 12]))) + drawn.choice([" x", "é"])
        for _ in range(150)
    }
    names = {f"B:{at}": [text] for at, text in enumerate(sorted(texts))}

    found = audited(tmp_path, names, distance=distance).findings()
    near = found.filter(found["kind"].is_in([k for k, v in KINDS.items() if v["group"] == "near"]))
    got = {frozenset(pair) for pair in near.select("term1", "term2").iter_rows()}

    expected = set()
    for one, other in combinations(sorted(texts), 2):
        limit = 1 if min(len(one), len(other)) <= 8 else distance
        words = [sorted(text.replace("é", "e").split()) for text in (one, other)]
        folds = [text.replace("é", "e").replace(" ", "") for text in (one, other)]
        if (
            words[0] == words[1]
            or folds[0] == folds[1]
            or Levenshtein.distance(one, other) <= limit
        ):
            expected.add(frozenset((one, other)))
    assert len(expected) > 20
    assert got == expected


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Fracture of left wrist", "Fracture of right wrist", "side"),
        ("Cleft lip", "Cleft lip, bilateral", "side"),
        ("Asthma with fever", "Asthma without fever", "negation"),
        ("Ketotic hyperglycinemia", "Non-ketotic hyperglycinemia", "negation"),
        ("Bullous erythroderma", "Nonbullous erythroderma", "negation"),
        ("Left motor seizure", "Non-motor seizure", "negation"),
    ],
)
def test_sides_and_negations_are_near_at_any_distance(
    tmp_path: Path, one: str, other: str, kind: str
) -> None:
    audit = audited(tmp_path, {**CLEAN, "B:1": [one], "B:2": [other]}, distance=1)

    assert kinds_of(audit) == [kind]


@pytest.mark.some(4)
@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("Swollen  ankle", "␣␣"),
        ("Swollen\u00a0ankle", "U+00A0"),
        ("Swollen ankle (left", "("),
        ("Swollen \u0430nkle", "U+0430n"),
        ("Vitamin \u0421", "␣ U+0421"),
        ("Swollen ank\u200dle", "k U+200D"),
        ("Swollen<br/>ankle", "<br/>"),
        ("Type &#x3b1; fiber", "&#x3b1;"),
        ("Swollen ankle?", "?"),
        ("Swollen ankle-", "-"),
        ("-Swollen ankle", "-"),
        ("Swollen ankle.", "."),
    ],
)
def test_the_wrong_characters_of_a_name_are_shown(tmp_path: Path, name: str, detail: str) -> None:
    assert audited(tmp_path, {"B:1": [name]}).findings()["detail"].to_list() == [detail]


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "name",
    [
        "\u0421\u0438\u043d\u0434\u0440\u043e\u043c Down",
        "\u0646\u06cc\u0645\u200c\u0641\u0627\u0635\u0644\u0647",
        "Rh-",
        "oxytocin, deamino-",
        "5'-AMP",
        "Have you been able to sleep well?",
    ],
)
def test_names_that_are_right_have_no_finding(tmp_path: Path, name: str) -> None:
    assert kinds_of(audited(tmp_path, {"B:1": [name]})) == []


def test_a_name_in_two_unicode_forms_is_the_same_name(tmp_path: Path) -> None:
    names = {"B:1": ["Ménière disease"], "B:2": ["Me\u0301nie\u0300re disease"]}

    assert kinds_of(audited(tmp_path, names)) == ["same_name"]


def test_a_category_has_the_near_names_of_its_concepts(tmp_path: Path) -> None:
    names = {
        "B:1": ["Desmoid tumor"],
        "B:2": ["Growth", "desmoid tumor"],
        "B:3": ["Desmoid tumors"],
    }
    below = "[Term]\nid: B:4\nname: Tumors in a row\nis_a: B:2\n"

    found = audited(tmp_path, names, below, categories=["B:2"], only=["plural"]).findings()

    assert found.select("concept1", "concept2").rows() == [("B:2", "B:3")]


def write_releases(folder: Path) -> tuple[Path, Path]:
    """Write a release with a plural and a number, and an earlier one with the plural only."""
    names = {**CLEAN, **PLANTED["plural"], "C:1": ["Diabetes type 1"], "C:2": ["Diabetes type 2"]}
    earlier = {concept: terms for concept, terms in names.items() if concept != "C:2"}
    return write_obo(folder / "new.obo", names), write_obo(folder / "old.obo", earlier)


@pytest.mark.full
def test_findings_that_an_earlier_release_lacks_are_new(tmp_path: Path) -> None:
    new, old = write_releases(tmp_path)
    medsim.build(old, tmp_path / "build")
    expected = [("warning", "plural", 1, 0), ("note", "number", 1, 1)]

    for since in (old, tmp_path / "build", medsim.open(tmp_path / "build")):
        audit = medsim.audit(new, tmp_path / "audit", since=since, overwrite=True)
        assert audit.counts().rows() == expected
    assert medsim.audit(new, tmp_path / "alone").findings()["new"].null_count() == 2


def test_a_build_has_the_findings_of_its_source(tmp_path: Path) -> None:
    source = write_obo(tmp_path / "names.obo", {**CLEAN, **PLANTED["typo"]})

    of_build = medsim.audit(medsim.build(source, tmp_path / "build"), tmp_path / "first")
    of_source = medsim.audit(source, tmp_path / "second")

    assert of_build.findings().equals(of_source.findings())
    assert of_build.findings().height > 0


def test_findings_are_in_order_across_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = [names for planted in PLANTED.values() for names in planted.values()]
    names = {f"B:{at}": texts for at, texts in enumerate([*every, *reversed(every)])}
    whole = audited(tmp_path, names).findings()

    monkeypatch.setattr("medsim.audits.audit._AT_ONCE", 7)
    monkeypatch.setattr("medsim.audits.near._AT_ONCE", 5)
    assert audited(tmp_path, names).findings().equals(whole)
    kinds = sorted(KINDS, key=lambda kind: [*SEVERITIES].index(KINDS[kind]["severity"]))
    keys = ("distance", "term1", "term2", "concept1", "concept2")
    by_kind = pl.col("kind").replace_strict({kind: at for at, kind in enumerate(kinds)})
    assert whole.sort(by_kind, *keys, nulls_last=True).equals(whole)
    assert whole["kind"].n_unique() > 15
    assert whole["finding_id"].is_unique().all()


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (["plural"], ["plural"]),
        (["note"], ["number"]),
        (["error"], []),
        (["case", "number"], ["number"]),
    ],
)
def test_only_some_kinds_are_searched_for(
    tmp_path: Path, only: list[str], kinds: list[str]
) -> None:
    new, _ = write_releases(tmp_path)

    assert kinds_of(medsim.audit(new, tmp_path / "audit", only=only)) == kinds


def test_categories_keep_the_findings_below_a_concept(tmp_path: Path) -> None:
    below = "\n\n".join(
        f"[Term]\nid: D:{at}\nname: Lesion grade {at}\nis_a: {top} ! top"
        for at, top in enumerate(["A:1", "A:2", "A:3"])
    )

    def categories(named: list[str]) -> list[tuple[str, str, str]]:
        audit = audited(tmp_path, CLEAN, below, categories=named)
        return audit.findings().select("concept1", "concept2", "category").rows()

    assert categories(["A:1"]) == [
        ("D:0", "D:1", "Painful shoulder"),
        ("D:0", "D:2", "Painful shoulder"),
    ]
    assert categories(["D:2", "stones=A:2"]) == [
        ("D:0", "D:1", "stones"),
        ("D:0", "D:2", "Lesion grade 2"),
        ("D:1", "D:2", "stones"),
    ]
    with pytest.raises(medsim.MedsimError, match="the build has no concept 'A:9'"):
        categories(["A:9"])


@pytest.mark.full
def test_fail_on_sets_the_exit_code(tmp_path: Path) -> None:
    new, old = write_releases(tmp_path)

    def exit_code(*arguments: str) -> int:
        call = ["audit", str(new), "-o", str(tmp_path / "audit"), "--overwrite", "-q", *arguments]
        return CliRunner().invoke(app, call).exit_code

    assert exit_code() == 0
    assert exit_code("--fail-on", "plural") == exit_code("--fail-on", "warning") == 3
    assert exit_code("--fail-on", "hyphen,error") == 0
    assert exit_code("--fail-on", "plural", "--since", str(old)) == 0
    assert exit_code("--fail-on", "plural,number", "--since", str(old)) == 3
    assert exit_code("--fail-on", "plurals") == 1


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("only", "fail_on", "code"),
    [
        ("plural", "warning", 3),
        ("warning", "plural", 3),
        ("plural,case", "plural,warning", 3),
        ("number", "note", 3),
        ("hyphen", "warning", 0),
        ("plural", "error", 1),
        ("plural", "warning,number", 1),
        ("note", "plural", 1),
    ],
)
def test_fail_on_takes_every_kind_and_severity_that_only_leaves(
    tmp_path: Path, only: str, fail_on: str, code: int
) -> None:
    new, _ = write_releases(tmp_path)
    call = ["audit", str(new), "-o", f"{tmp_path}/audit", "--only", only, "--fail-on", fail_on]

    result = CliRunner().invoke(app, call)

    assert result.exit_code == code, result.output
    assert ("which is not searched for; change --only" in result.output) == (code == 1)


@pytest.mark.parametrize("option", ["--only", "--fail-on"])
def test_a_kind_that_only_a_model_finds_is_refused_without_one(tmp_path: Path, option: str) -> None:
    new, _ = write_releases(tmp_path)
    call = ["audit", str(new), "-o", f"{tmp_path}/audit", option, "note,missing_synonym"]

    result = CliRunner().invoke(app, call)

    assert result.exit_code == 1
    assert f"{option} names missing_synonym, which is not searched for; " in result.output
    assert result.output.endswith("or add --embedding\n")


def test_other_files_have_the_findings(tmp_path: Path) -> None:
    names = {"B:1": ["=1+1 tumor"], "B:2": ["=1+1 tumors"], "B:3": ["=1+2 tumor"]}
    names |= {"B:4": ["-1+1 splinter"], "B:5": ["-1+1 splinters"]}
    audited(tmp_path, names, candidate_mappings=True)

    def text_of(name: str) -> str:
        return (tmp_path / "audit" / name).read_text(encoding="utf-8")

    rows = list(csv.DictReader(text_of("findings.csv").splitlines()))
    lines = text_of("mappings.sssom.tsv").splitlines()
    mappings = list(csv.DictReader([x for x in lines if not x.startswith("#")], delimiter="\t"))

    assert [(row["kind"], row["term1"], row["term2"]) for row in rows] == [
        ("plural", "'-1+1 splinter", "'-1+1 splinters"),
        ("plural", "'=1+1 tumor", "'=1+1 tumors"),
        ("number", "'=1+1 tumor", "'=1+2 tumor"),
        ("other", "'=1+1 tumors", "'=1+2 tumor"),
    ]
    assert "#  B: http://purl.obolibrary.org/obo/B_" in lines
    assert [(row["subject_id"], row["object_id"], row["predicate_id"]) for row in mappings] == [
        ("B:4", "B:5", "skos:closeMatch"),
        ("B:1", "B:2", "skos:closeMatch"),
    ]
    assert [row["subject_label"] for row in mappings] == ["'-1+1 splinter", "'=1+1 tumor"]
    assert [row["object_label"] for row in mappings] == ["'-1+1 splinters", "'=1+1 tumors"]


def test_the_findings_as_csv_have_the_identifiers_and_numbers_of_the_terminology(
    tmp_path: Path,
) -> None:
    codes = ["22298006", "007", "1e5", "D000001", "12-3", "MARCH1", "-5", "A00-B99"]
    path = tmp_path / "codes.csv"
    rows = [f"{code},{word} {at}\n" for at, code in enumerate(codes) for word in ("Grade", "-1")]
    path.write_text("id,name\n" + "".join(rows), encoding="utf-8")
    audit = medsim.audit(path, tmp_path / "audit")

    written = pl.read_csv(tmp_path / "audit" / "findings.csv", infer_schema=False)

    findings = audit.findings()
    assert {*findings["concept1"]} | {*findings["concept2"].drop_nulls()} == {*codes}
    for column in ("finding_id", "concept1", "concept2", "part1", "part2", "main_name1"):
        assert written[column].to_list() == findings[column].to_list()
    assert written.filter(pl.col("term1").str.starts_with("'"))["term1"].to_list() == [
        f"'{term}" for term in findings["term1"] if term and term.startswith("-1 ")
    ]


def test_hostile_names_are_audited(tmp_path: Path) -> None:
    hostile = ["</script><script>alert(1)</script>", "\u202egnp.exe", "(" * 5000, "é" * 3, "%", "?"]
    hostile += ["a" * 9_000, "a" * 9_000 + "b", "- ", "-- ", "\U0001f600", "0", "00", "'" * 900]

    audit = audited(tmp_path, {f"B:{at}": [name] for at, name in enumerate(hostile)})

    assert {"characters", "brackets", "letter", "number"} <= {*kinds_of(audit)}


def test_the_largest_chains_are_listed_with_the_names_that_join_them(tmp_path: Path) -> None:
    names = {"B:1": ["Gout", "Podagra"], "B:2": ["Podagra of toe", "podagra", "Toe ache"]}
    names |= {"B:3": ["Sore toe", "Toe ache"]}
    retired = "[Term]\nid: B:4\nname: obsolete Aching toe\nis_obsolete: true\nreplaced_by: B:3\n"

    found = audited(tmp_path, names, retired, only=["chain"]).findings()

    chain = "in a chain of 6 names and 4 concepts"
    assert found.select("concept1", "term1", "concept2", "term2", "detail").rows() == [
        ("B:4", "Aching toe", "B:3", "Sore toe", f"replaced_by {chain}"),
        ("B:1", "Podagra", "B:2", "podagra", f"the same name {chain}"),
        ("B:2", "Toe ache", "B:3", "Toe ache", f"the same name {chain}"),
    ]


def test_a_model_finds_missing_synonyms_and_unrelated_ones(tmp_path: Path) -> None:
    names = {f"B:{at}": [f"alpha{at}", f"omega{at}"] for at in range(20)}
    names |= {"C:1": ["twin thing"], "C:2": ["double thing"], "C:3": ["twin thing 2"]}
    places = {text: at for at, terms in enumerate(names.values()) for text in terms}
    places |= dict.fromkeys(["double thing", "twin thing 2"], places["twin thing"])

    def embed(texts: list[str]) -> np.ndarray:
        vectors = 0.1 + np.eye(24, dtype=np.float32)[[places[text] for text in texts]]
        vectors[:, 23] += [text.startswith("omega") for text in texts]
        vectors[[at for at, text in enumerate(texts) if text == "omega3"]] *= -1
        return vectors

    kinds = ["missing_synonym", "unrelated_synonym"]
    options = {"only": kinds, "embedding": medsim.Embedding(embed, name="own"), "cache": "none"}
    found = audited(tmp_path, names, **options).findings()

    assert found.select("kind", "term1", "term2").rows() == [
        ("missing_synonym", "double thing", "twin thing"),
        ("unrelated_synonym", "alpha3", "omega3"),
    ]
    assert found["similarity"][0] == pytest.approx(1)
    with pytest.raises(medsim.MedsimError, match="missing_synonym, which is not searched for"):
        audited(tmp_path, names, only=kinds)


def test_every_kind_has_an_example() -> None:
    others = {"retired_name", "no_main_name", "chain", "missing_synonym", "unrelated_synonym"}

    assert {*PLANTED} | others == {*KINDS}
    assert all(kind["severity"] in SEVERITIES for kind in KINDS.values())


SERIES = {f"C:{at}": [f"Gout type {at}"] for at in (1, 2, 3)}
HEADING = "subject_id,subject_label,object_id,object_label,decision,reviewer,date\n"


def write_decisions_on(folder: Path, *rows: str) -> Path:
    path = folder / f"decisions{len(rows)}.csv"
    path.write_text(HEADING + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_findings_that_were_decided_on_are_dropped(tmp_path: Path) -> None:
    names = {"B:1": ["Swollen ankle,"], "D:1": ["=Toe"], "D:2": ["=Toes"], **SERIES}
    first = write_decisions_on(
        tmp_path,
        'B:1,"Swollen ankle,",,,keep,Ada,',
        "D:1,'=Toe,D:2,'=Toes,narrower,Ada,2026-01-02",
        "C:1,Gout type 1,C:2,Gout type 2,different,Ada,",
        "C:1,Gout type 1,C:3,Gout type 3,exact,Ada,2026-01-01",
        "C:2,Gout type 2,C:3,Gout of type 3,different,Ada,",
    )
    second = write_decisions_on(tmp_path, "C:1,Gout type 1,C:3,Gout type 3,different,Ben,")

    audit = audited(tmp_path, names, decisions=[first, second])

    assert audit.findings().select("concept1", "concept2").rows() == [
        ("C:1", "C:3"),
        ("C:2", "C:3"),
    ]
    assert audit.conflicts().select("decision", "reviewer").rows() == [
        ("exact", "Ada"),
        ("different", "Ben"),
    ]
    facts = audit.manifest.decisions or {}
    assert facts.pop("fingerprint")
    assert facts == {"held": 4, "dropped": 3, "conflicts": 1, "without_finding": 1}
    assert (
        "reviewers disagree on 1 name or pair; see the view conflict" in audit.manifest.warnings[-1]
    )
    lines = (audit.folder / "mappings.sssom.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[-1].split("\t")[:5] == ["D:1", "'=Toe", "skos:narrowMatch", "D:2", "'=Toes"]
    assert lines[-2].startswith("subject_id")


def test_fail_on_counts_what_is_undecided(tmp_path: Path) -> None:
    source = write_obo(tmp_path / "names.obo", PLANTED["plural"])
    decisions = write_decisions_on(tmp_path, "B:1,Desmoid tumor,B:2,Desmoid tumors,exact,,")
    call = ["audit", str(source), "-o", f"{tmp_path}/audit", "--overwrite", "--fail-on", "warning"]

    assert CliRunner().invoke(app, call).exit_code == 3
    result = CliRunner().invoke(app, [*call, "--decisions", str(decisions)])

    assert result.exit_code == 0, result.output
    assert "1 finding dropped as decided; 0 decisions are on no finding" in result.stderr


def test_findings_that_an_earlier_audit_lacks_are_new(tmp_path: Path) -> None:
    earlier = audited(tmp_path, PLANTED["plural"] | {"C:1": SERIES["C:1"]})
    source = write_obo(tmp_path / "names.obo", PLANTED["plural"] | SERIES)

    for since in (earlier.folder, earlier):
        audit = medsim.audit(source, tmp_path / "new", since=since, overwrite=True)
        assert audit.counts().rows() == [("warning", "plural", 1, 0), ("note", "number", 3, 3)]
        assert audit.manifest.since == earlier.manifest.source
        assert not any("since" in warning for warning in audit.manifest.warnings)
    other = medsim.audit(source, tmp_path / "other", since=earlier, distance=1)
    warning = "`since` is an audit with other options, so more findings may be new"
    assert warning in other.manifest.warnings
    with pytest.raises(medsim.MedsimError, match="is an audit, not a build"):
        medsim.audit(earlier, tmp_path / "third")


def test_the_columns_and_the_language_of_a_table_are_chosen(tmp_path: Path) -> None:
    rows = ["1,Magenschmerz,de,3", "2,Magenschmerzen,de,3", "1,Gastralgia,en,7"]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["Nr,Wort,Sprache,x", *rows, ""]), encoding="utf-8")
    columns = ["concept=Nr", "term=Wort", "language=Sprache"]
    options = {"columns": columns, "language": "de", "distance": 4}

    audit = medsim.audit(table, tmp_path / "audit", since=table, **options)

    assert audit.findings().select("term1", "term2", "new").rows() == [
        ("Magenschmerz", "Magenschmerzen", False)
    ]
    build = medsim.build(table, tmp_path / "build", columns=columns, language="de")
    with pytest.raises(medsim.MedsimError, match="`columns` does not apply to"):
        medsim.audit(build.folder, tmp_path / "second", columns=columns)
    with pytest.raises(medsim.MedsimError, match="`language` de,en is not one code, such as en"):
        medsim.audit(table, tmp_path / "third", columns=columns, language="de,en")


def test_names_of_a_series_are_a_family(tmp_path: Path) -> None:
    names = {**SERIES, "C:4": ["Gout type II"], "C:5": ["Gout type X"], "C:6": ["Gout of type 1"]}
    names |= {"D:1": ["Lesion grade 1"], "D:2": ["Lesion grade 2"]}

    found = audited(tmp_path, names, distance=2).findings()

    families = found.filter(pl.col("family").is_not_null())
    by_family = families.group_by("family").agg(pl.struct("concept1", "concept2").len())
    assert dict(by_family.iter_rows()) == {"gout type #": families.height}
    assert {*families["kind"]} == {"number", "roman"}
    assert found.filter(pl.col("concept1") == "D:1")["family"].to_list() == [None]
