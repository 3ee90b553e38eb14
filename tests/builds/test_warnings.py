"""Builds from releases that lack something: what is counted, and what is warned of."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from fixtures.release import Release

import medsim

if TYPE_CHECKING:
    from pathlib import Path

NO_ASSOCIATIONS = "possibly_equivalent_to, replaced_by and same_as are empty, since there is "
NO_SYNONYMS = "fsn_syn and syn_syn are empty, since no concept has a synonym"


def build(source: Path, out: Path) -> medsim.Build:
    return medsim.build(source, out, negatives=["random"])


def skipped(built: medsim.Build) -> dict[object, object]:
    """Return the rows that were left out, by reason."""
    return {one["reason"]: one["n_rows"] for one in built.manifest.skipped if one["n_rows"]}


def small_obo(folder: Path, *clauses: str) -> Path:
    """Write an ontology of six terms, each with the clauses, and return its path."""
    stanzas = [
        "\n".join([f"[Term]\nid: IN:{n}\nname: velp {n}", *(one.format(n=n) for one in clauses)])
        for n in range(6)
    ]
    (path := folder / "small.obo").write_text("\n\n".join(["ontology: in", *stanzas]) + "\n")
    return path


def test_rows_of_concepts_that_a_release_lacks_are_counted_and_warned_of(tmp_path: Path) -> None:
    release = Release()
    release.named("10", "Grelb extension (disorder)")
    for number in range(6):
        release.description(f"{20 + number}", f"murn {number}", "synonym")
    release.association("20", "10", "replaced_by")
    release.is_a("10", "20")
    built = build(release.write_folder(tmp_path / "extension", "Snapshot"), tmp_path / "out")

    assert skipped(built) == {
        "association is of an absent concept": 1,
        "association lacks a name on one side": 1,
        "description is of an absent concept": 6,
        "is-a relationship is of an absent concept": 1,
    }
    cause = (
        "is it an extension without its international edition? Put both in one folder and name that"
    )
    assert built.manifest.warnings == [
        f"extension lacks the concepts of 6 descriptions; {cause}",
        f"extension lacks the concepts of 1 association; {cause}",
        NO_SYNONYMS,
        f"{NO_ASSOCIATIONS}no such association",
    ]


def test_few_rows_of_absent_concepts_are_counted_without_a_warning(tmp_path: Path) -> None:
    path = small_obo(tmp_path, 'synonym: "murn {n}" EXACT []', "replaced_by: IN:0")
    path.write_text(path.read_text() + "consider: IN:99\n")
    built = build(path, tmp_path / "out")

    assert skipped(built)["association is of an absent concept"] == 1
    assert not any("lacks" in warning for warning in built.manifest.warnings)


def test_a_release_without_associations_gives_the_datasets_of_names(tmp_path: Path) -> None:
    release = Release()
    for number in range(6):
        release.named(f"{10 + number}", f"velp {number} (disorder)", f"murn grelb {number}")
    folder = release.write_folder(tmp_path / "release", "Snapshot")
    (associations,) = folder.rglob("der2_cRefset_Association*")
    associations.unlink()
    built = build(folder, tmp_path / "out")

    positives = built.sql(
        "select dataset, count(*) from pair where label = 1 group by 1 order by 1"
    )
    assert positives.rows() == [("fsn_syn", 6), ("syn_syn", 6)]
    assert built.manifest.warnings == [f"{NO_ASSOCIATIONS}no file der2_cRefset_Association*.txt"]


def test_a_terminology_of_plain_names_warns_that_all_datasets_are_empty(tmp_path: Path) -> None:
    plain = build(small_obo(tmp_path), tmp_path / "plain")
    related = build(small_obo(tmp_path, 'synonym: "murn {n}" RELATED []'), tmp_path / "related")

    assert plain.manifest.warnings == [NO_SYNONYMS, f"{NO_ASSOCIATIONS}no such association"]
    assert related.manifest.warnings == [
        f"{NO_SYNONYMS}; 6 are of another scope, see `synonyms`",
        f"{NO_ASSOCIATIONS}no such association",
    ]


def test_texts_that_are_canonically_equivalent_are_never_a_pair(tmp_path: Path) -> None:
    path = small_obo(tmp_path, 'synonym: "m\u00fcrn {n}" EXACT []', 'synonym: "M\u00dcRN" EXACT []')
    decomposed = unicodedata.normalize("NFD", path.read_text().replace("velp", "gr\u00e9lb"))
    path.write_text(path.read_text() + decomposed.replace("IN:", "IN:9").partition("\n")[2])
    built = build(path, tmp_path / "out")

    rows = built.sql("select term1, term2, distance from pair").rows()
    folded = [[unicodedata.normalize("NFC", text).lower() for text in row[:2]] for row in rows]
    assert rows
    assert all(first != second for first, second in folded)
    terms = built.sql("select term, lower_term, component from term")
    assert terms["lower_term"].to_list() == [
        unicodedata.normalize("NFC", term.lower()) for term in terms["term"]
    ]
    assert terms.select("lower_term", "component").unique().height == terms["lower_term"].n_unique()
