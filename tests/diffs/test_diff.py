"""Comparisons of two releases: every change is found once, and nothing else is."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from oracles.changes import changes
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError, OutputError

HEAD = "format-version: 1.2\ndata-version: {}\n"


def obo(path: Path, day: str, terms: dict[str, str]) -> Path:
    """Write an OBO file of terms: clauses separated by semicolons, the first one the name."""
    text = HEAD.format(day)
    for identifier, clauses in terms.items():
        name, *others = clauses.split("; ")
        text += "\n".join(["", "[Term]", f"id: X:{identifier}", f"name: {name}", *others, ""])
    path.write_text(text, encoding="utf-8")
    return path


def synonym(text: str) -> str:
    return f'synonym: "{text}" EXACT []'


OLD = {
    "0": "root",
    "1": f"heart attack; {synonym('cardiac infarct')}; is_a: X:0",
    "2": f"renal failure; {synonym('kidney failure')}",
    "3": "obsolete liver cyst; is_obsolete: true",
    "4": "bone pain; is_a: X:0",
    "5": f"skin rash; {synonym('exanthem')}",
    "6": f"eye strain; {synonym('tired eyes')}",
    "7": f"Schädelbruch; {synonym('Schädelprellung')}",
    "8": "joint swelling",
    "9": "obsolete gout; is_obsolete: true; replaced_by: X:1",
}
NEW = {
    **OLD,
    "2": "obsolete renal failure; is_obsolete: true; replaced_by: X:1",
    "3": "liver cyst",
    "4": "bone pain; is_a: X:1",
    "5": f"skin rash; {synonym('exanthem')}; {synonym('spots')}",
    "6": "eye strain",
    "7": f"Schädelbruch; {synonym('schädelprellungen 💀')}",
    "8": "swollen joint",
    "9": "obsolete gout; is_obsolete: true",
    "10": "toe ache",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("releases")
    return obo(folder / "old.obo", "2025-01-01", OLD), obo(folder / "new.obo", "2025-07-01", NEW)


@pytest.fixture(scope="module")
def builds(files: tuple[Path, Path]) -> list[medsim.Build]:
    return [medsim.build(file, file.with_suffix("")) for file in files]


@pytest.fixture(scope="module")
def compared(files: tuple[Path, Path]) -> medsim.Diff:
    return medsim.diff(*files, files[0].parent / "out")


def rows(diff: medsim.Diff, table: str, *columns: str) -> list[tuple[object, ...]]:
    return sorted(diff.table(table).select(columns).rows(), key=str)


def counted(summary: pl.DataFrame) -> dict[tuple[str, str], int]:
    """Return the number of changes by subject, or dataset of positives, without zeros."""
    chosen = summary.filter(pl.col("n") > 0, pl.col("subject") != "negative")
    subject = pl.coalesce("dataset", "subject")
    return {(s, change): n for s, change, n in chosen.select(subject, "change", "n").iter_rows()}


def test_every_kind_of_change_is_found_once(compared: medsim.Diff) -> None:
    assert rows(compared, "concept", "change", "concept_id", "old_parents", "new_parents") == [
        ("added", "X:10", None, None),
        ("moved", "X:4", "X:0", "X:1"),
        ("reactivated", "X:3", None, None),
        ("retired", "X:2", None, None),
    ]
    kept = compared.table("name").filter("kept")
    assert sorted(kept.select("change", "old_term", "new_term", "distance").rows()) == [
        ("added", None, "spots", None),
        ("changed", "Schädelprellung", "schädelprellungen 💀", 4),
        ("preferred", "joint swelling", "swollen joint", 12),
        ("removed", "tired eyes", None, None),
    ]
    others = compared.table("name").filter(~pl.col("kept"))
    assert sorted(others.select("change", "concept_id", "concept_change").rows()) == [
        ("added", "X:10", "added"),
        ("added", "X:3", "reactivated"),
        ("removed", "X:2", "retired"),
        ("removed", "X:2", "retired"),
    ]
    assert rows(compared, "association", "change", "source_term", "kind", "target_term") == [
        ("added", "renal failure", "replaced_by", "heart attack"),
        ("removed", "gout", "replaced_by", "heart attack"),
    ]
    assert rows(compared, "is_a", "change", "child_id", "parent_id", "parent_term", "kept") == [
        ("added", "X:4", "X:1", "heart attack", True),
        ("removed", "X:4", "X:0", "root", True),
    ]
    positives = compared.table("pair").filter(pl.col("negatives").is_null(), dataset="fsn_syn")
    assert sorted(positives.select("change", "term1", "term2", "kept").rows()) == [
        ("gained", "Schädelbruch", "schädelprellungen 💀", True),
        ("gained", "skin rash", "spots", True),
        ("lost", "Schädelbruch", "Schädelprellung", True),
        ("lost", "eye strain", "tired eyes", True),
        ("lost", "renal failure", "kidney failure", False),
    ]


def test_the_summary_counts_the_rows_of_the_tables(compared: medsim.Diff) -> None:
    summary = compared.summary()
    tables = {name: compared.table(name) for name in ("concept", "name", "association", "is_a")}
    for name, table in tables.items():
        found = summary.filter(subject=name)
        assert found["n"].sum() == table.height
        assert found["n_kept"].sum() == table["kept"].sum()
    pairs = compared.table("pair")
    assert summary.filter(pl.col("dataset").is_not_null())["n"].sum() == pairs.height


def test_a_concept_is_retired_if_it_is_inactive_and_removed_if_it_is_missing(
    tmp_path: Path,
) -> None:
    old = obo(tmp_path / "old.obo", "2025-01-01", {"1": "a", "2": "b", "3": "c"})
    new = obo(
        tmp_path / "new.obo", "2025-07-01", {"1": "a; alt_id: X:3", "2": "b; is_obsolete: true"}
    )

    diff = medsim.diff(old, new, tmp_path / "out")

    expected = [("removed", "X:3"), ("retired", "X:2")]
    assert rows(diff, "concept", "change", "concept_id") == expected
    assert diff.table("association").is_empty()
    found = counted(diff.summary())
    assert found["concept", "removed"] == found["concept", "retired"] == 1


def test_releases_in_the_wrong_order_are_a_warning(
    builds: list[medsim.Build], compared: medsim.Diff, tmp_path: Path
) -> None:
    old, new = builds

    diff = medsim.diff(new, old, tmp_path / "out")

    warning = "`old` is of 2025-07-01, which is later than `new`, of 2025-01-01"
    assert diff.manifest.warnings[-1] == warning
    assert not any("later" in line for line in compared.manifest.warnings)


def test_random_negatives_are_counted_for_programs_only(compared: medsim.Diff) -> None:
    counts = compared.summary().filter(negatives="random")
    assert counts["n"].sum() > 0
    assert counts["n"].sum() == compared.table("pair").filter(negatives="random").height
    text = (compared.folder / "CHANGES.md").read_text(encoding="utf-8")
    assert "levenshtein_gained" in text
    assert "random" not in text


def test_changed_negatives_are_those_of_the_builds(
    builds: list[medsim.Build], compared: medsim.Diff
) -> None:
    sets = []
    for build in builds:
        rows = build.pairs("syn_syn", negatives="levenshtein").filter(label=0)
        sets.append({frozenset(pair) for pair in rows.select("term1", "term2").iter_rows()})
    old, new = sets

    found = compared.table("pair").filter(negatives="levenshtein", dataset="syn_syn")

    expected = {"gained": new - old, "lost": old - new}
    assert all(expected.values())
    assert {
        change: {frozenset(pair) for pair in part.select("term1", "term2").iter_rows()}
        for (change,), part in found.partition_by("change", as_dict=True).items()
    } == expected


def invented(seed: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return the terms of two invented releases, the second with many changes of the first."""
    draw = random.Random(seed)  # noqa: S311 — not for secrets
    words = ["ache", "bone", "cyst", "Ödem", "eye", "Σ-cell", "pain", "skin", "Skin", "toe"]

    def term() -> str:
        names = [" ".join(draw.choices(words, k=draw.randint(1, 3))) for _ in range(4)]
        clauses = [names[0], *map(synonym, dict.fromkeys(names[1 : draw.randint(1, 4)]))]
        if draw.random() < 0.25:
            clauses[0] = f"obsolete {clauses[0]}"
            clauses += ["is_obsolete: true", f"replaced_by: X:{draw.randrange(60)}"]
        else:
            clauses += {f"is_a: X:{draw.randrange(60)}" for _ in range(draw.randint(0, 2))}
        return "; ".join(clauses)

    old = {str(number): term() for number in range(60) if draw.random() < 0.9}
    left = [key for key in old if draw.random() < 0.9]
    new = {key: term() if draw.random() < 0.4 else old[key] for key in left}
    return old, new | {str(number): term() for number in range(60, 70)}


@pytest.mark.some(1)
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_a_plain_script(tmp_path: Path, seed: int) -> None:
    old, new = (
        obo(tmp_path / f"{day}.obo", day, terms)
        for day, terms in zip(("2025-01-01", "2025-07-01"), invented(seed), strict=True)
    )

    found = counted(medsim.diff(old, new, tmp_path / "out").summary())

    expected = changes(old.read_bytes(), new.read_bytes())
    assert len(expected) > 12
    substitutes = ("same_as", "replaced_by", "possibly_equivalent_to")
    assert {key: n for key, n in found.items() if key[0] not in substitutes} == dict(expected)


def test_the_same_release_has_no_changes(builds: list[medsim.Build], tmp_path: Path) -> None:
    out, old = tmp_path / "out", str(builds[0].folder)

    result = CliRunner().invoke(app, ["diff", old, old, "-o", str(out)])

    assert result.exit_code == 0, result.output
    diff = medsim.Diff(out)
    assert diff.summary()["n"].to_list() == [0] * 43
    assert all(diff.table(name).is_empty() for name in ("concept", "name", "is_a", "pair"))
    assert (out / "CHANGES.md").read_text().startswith("# Changes from old.obo 2025-01-01 to old")
    assert "##" not in (out / "CHANGES.md").read_text()


def test_a_build_is_compared_with_a_source(
    files: tuple[Path, Path],
    builds: list[medsim.Build],
    compared: medsim.Diff,
    tmp_path: Path,
) -> None:
    diff = medsim.diff(files[0], builds[1], tmp_path / "out")

    for name in ("concept", "name", "association", "is_a", "pair"):
        assert diff.table(name).equals(compared.table(name)), name
    assert diff.manifest.new["place"] == str(builds[1].folder)
    assert diff.manifest.new["build"] == compared.manifest.new["build"]
    assert diff.manifest.old["place"] == str(files[0])


def test_a_name_is_paired_with_the_nearest_and_only_within_the_limit(tmp_path: Path) -> None:
    names = [
        ["abcd", "abcdef", "uvwx"],
        ["abcdefg", "abcx", "nothing alike"],
    ]
    files = [
        obo(tmp_path / f"{at}.obo", "2025-01-01", {"1": "; ".join(["head", *map(synonym, one)])})
        for at, one in enumerate(names)
    ]

    diff = medsim.diff(*files, tmp_path / "out")

    assert rows(diff, "name", "change", "old_term", "new_term", "distance") == [
        ("added", None, "nothing alike", None),
        ("changed", "abcd", "abcx", 1),
        ("changed", "abcdef", "abcdefg", 1),
        ("removed", "uvwx", None, None),
    ]


def test_the_changelog_has_counts_first_and_says_what_it_leaves_out(
    compared: medsim.Diff,
    monkeypatch: pytest.MonkeyPatch,
    builds: list[medsim.Build],
    tmp_path: Path,
) -> None:
    text = (compared.folder / "CHANGES.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("#")]
    title = "# Changes from old.obo 2025-01-01 to new.obo 2025-07-01"
    assert headings == [title, "## Concepts", "## Names", "## Associations"]
    assert text.index("| concept | added | 1 | 0 |") < text.index("## Concepts")
    assert "| changed | X:7 | Schädelprellung | schädelprellungen 💀 | 4 |" in text

    monkeypatch.setattr("medsim.diffs.diff._LISTED_ROWS", 3)
    short = medsim.diff(*builds, tmp_path / "out").folder / "CHANGES.md"
    assert "The first 3 of 8 rows." in short.read_text(encoding="utf-8")


def test_the_command_prints_the_counts_in_every_format(
    compared: medsim.Diff, builds: list[medsim.Build], tmp_path: Path
) -> None:
    def printed(form: str) -> str:
        out = str(tmp_path / form)
        command = ["diff", *(str(build.folder) for build in builds), "-o", out, "--format", form]
        return CliRunner().invoke(app, command).stdout

    records = json.loads(printed("json"))
    assert pl.DataFrame(records, compared.summary().schema).equals(compared.summary())
    assert "concept,,,added,1,0" in printed("csv")
    assert "| concept | moved | 1 | 1 |" in printed("md")


def test_releases_that_cannot_be_compared_are_rejected(
    files: tuple[Path, Path], shared_release: Path, shared_build: medsim.Build, tmp_path: Path
) -> None:
    swedish = medsim.build(shared_release, tmp_path / "sv", language="sv", negatives=["random"])
    with pytest.raises(OptionError, match="not of the same terminology and language"):
        medsim.diff(shared_build, swedish, tmp_path / "out")
    with pytest.raises(InputError, match="no file or folder"):
        medsim.diff(files[0], tmp_path / "missing.obo", tmp_path / "out")
    with pytest.raises(OutputError, match="is inside"):
        medsim.diff(shared_build, files[0], shared_build.folder / "out")
    with pytest.raises(OptionError, match="unknown table 'names'"):
        medsim.diff(shared_build, shared_build, tmp_path / "same").table("names")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["same", "sv"]


def test_different_options_are_a_warning(files: tuple[Path, Path], tmp_path: Path) -> None:
    builds = [
        medsim.build(files[0], tmp_path / f"{seed}", seed=seed, negatives=["random", *more])
        for seed, more in ((0, []), (1, ["levenshtein"]))
    ]

    diff = medsim.diff(*builds, tmp_path / "out")

    [warning] = diff.manifest.warnings
    assert "different options (seed, strategies), so some changes may not be changes" in warning
    assert set(diff.summary()["negatives"]) == {None, "random"}


KILLED = """
import time
from medsim.__main__ import main
from medsim.diffs import diff

def stopped(*_):
    print("comparing", flush=True)
    time.sleep(120)

diff.changes_between = stopped
main()
"""


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_leaves_no_output_and_the_next_is_complete(
    files: tuple[Path, Path], compared: medsim.Diff, tmp_path: Path, number: int
) -> None:
    command = ["diff", *map(str, files), "-o", str(tmp_path / "out")]
    process = subprocess.Popen([sys.executable, "-c", KILLED, *command], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"comparing\n"
    os.kill(process.pid, number)
    process.communicate(timeout=120)

    assert process.returncode != 0
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= ({".out.unfinished", ".out.lock"} if number == signal.SIGKILL else set())
    assert medsim.diff(*files, tmp_path / "out").summary().equals(compared.summary())
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_the_page_has_the_counts_and_the_rows(compared: medsim.Diff, tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    result = CliRunner().invoke(app, ["report", str(compared.folder), "-o", str(page)])

    assert result.exit_code == 0, result.output
    html = page.read_text(encoding="utf-8")
    assert "What changed from old.obo 2025-01-01 to new.obo 2025-07-01" in html
    assert (
        "Concepts: 1 added, 0 removed, 1 retired, 1 reactivated and 1 moved. 8 names changed."
        in html
    )
    assert html.count("data-rows=") == 5
    assert "schädelprellungen 💀" in html
    assert "vegaEmbed = " not in html
    assert '"category"' not in html  # no concept has one


def test_releases_without_a_common_concept_are_a_warning(
    files: tuple[Path, Path], compared: medsim.Diff, shared_build: medsim.Build, tmp_path: Path
) -> None:
    diff = medsim.diff(files[0], shared_build, tmp_path / "out")

    assert "no concept is active in both releases" in diff.manifest.warnings[-1]
    assert not any("no concept" in line for line in compared.manifest.warnings)
