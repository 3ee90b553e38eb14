"""Names that are too long to be compared are refused with their place, or left out and counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from fixtures.corpora import invented_names, write_ontology
from fixtures.sources import n_skipped, read_source

import medsim
from medsim.builds.positives import read_corrections
from medsim.core.errors import InputError
from medsim.core.terms import MAX_NAME
from medsim.evaluations.rated_parts import read_words
from medsim.evaluations.ratings import read_rated
from medsim.neighbours.pool import names_of
from medsim.studies.asking import read_pairs

pytestmark = pytest.mark.usefixtures("alarm")

LONGEST, LONGER = "a" * MAX_NAME, "b" * (MAX_NAME + 1)
PAIRS = f"term1,term2,{{}}\nfever,{LONGEST},{{}}\nfever,{LONGER},{{}}\n"


def rated(path: Path, name: str) -> Path:
    path.write_text(PAIRS.format(name, *("same", "same") if name == "judged" else (1, 2)))
    return path


def lines(path: Path) -> Path:
    path.write_text(f"fever\n\n{LONGEST}\n{LONGER}\n")
    return path


def columns(path: Path) -> Path:
    frame = pl.DataFrame({"term": ["fever", LONGEST, "pain", LONGER]})
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)
    return path


def json_lines(path: Path) -> Path:
    rows = [{"term1": "fever", "term2": name, "rating": 1.0} for name in (LONGEST, LONGER)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def words(path: Path) -> Path:
    path.write_text(f"word,count\n{LONGEST},1\n{LONGER},2\n")
    return path


@pytest.mark.parametrize(
    ("write", "name", "read", "place"),
    [
        (lines, "n.txt", lambda path: names_of(path, "queries"), "n.txt: row 4 "),
        (columns, "n.csv", lambda path: names_of(path, "queries"), "n.csv: row 4 "),
        (columns, "n.parquet", lambda path: names_of(path, "queries"), "n.parquet: row 4 "),
        (lambda path: path, "", lambda _path: medsim.Pool([LONGEST, LONGER]), "`names`: row 2 "),
        (lambda path: rated(path, "rating"), "r.csv", read_rated, "r.csv: line 3: a term "),
        (json_lines, "r.jsonl", read_rated, "r.jsonl: row 2: a term "),
        (lambda path: rated(path, "judged"), "c.csv", read_corrections, "c.csv: line 3: term2 "),
        (lambda path: rated(path, "x"), "p.csv", read_pairs, "p.csv: line 3: term2 "),
        (words, "w.csv", read_words, "w.csv: line 3: word "),
    ],
)
def test_a_name_that_is_too_long_is_refused_with_its_place(
    tmp_path: Path,
    write: Callable[[Path], Path],
    name: str,
    read: Callable[[Path], object],
    place: str,
) -> None:
    path = write(tmp_path / name)

    with pytest.raises(InputError) as raised:
        read(path)

    assert (
        str(raised.value).removeprefix(f"{tmp_path}/") == f"{place}has more than 10,000 characters"
    )


def test_the_longest_names_are_read(tmp_path: Path) -> None:
    path = tmp_path / "n.txt"
    path.write_text(f"{LONGEST}\n{LONGEST[1:]}b\n")

    assert medsim.nearest(path, threads=1)["distance"].to_list() == [1, 1]


@pytest.mark.parametrize("length", [MAX_NAME + 1, 10_000_000])
def test_a_terminology_is_read_without_names_that_are_too_long(tmp_path: Path, length: int) -> None:
    path = tmp_path / "o.obo"
    stanzas = [
        f"[Term]\nid: V:{at}\nname: {name}\n"
        for at, name in enumerate(["fever", "b" * length, LONGEST])
    ]
    path.write_text("format-version: 1.2\n\n" + "\n".join(stanzas))

    terminology, tables = read_source(path)

    assert sorted(tables["description"]["term"]) == [LONGEST, "fever"]
    assert tables["concept"].height == 3
    reason = "name has more than 10,000 characters"
    assert n_skipped(terminology) == {reason: 1}
    assert [*terminology.warnings] == [f"{reason}, so it is left out: 1, first of V:1"]
    medsim.audit(path, tmp_path / "audit", threads=1)  # within the time of the alarm


def test_a_mention_that_is_too_long_is_left_out_of_links(tmp_path: Path) -> None:
    names = invented_names(3, 3)
    concept, (name, *_) = next(iter(names.items()))
    corpus = tmp_path / "c.txt"
    text = f"{name} {LONGER}"
    corpus.write_text(
        f"7|t|{text}\n7\t0\t{len(name)}\t{name}\tDisease\t{concept}\n"
        f"7\t{len(name) + 1}\t{len(text)}\t{LONGER}\tDisease\t{concept}\n"
    )

    result = medsim.link([corpus], write_ontology(tmp_path, names), {}, tmp_path / "out")

    assert result.mentions()["term"].to_list() == [name]
    [skipped] = [it for it in result.manifest.skipped if "characters" in it["reason"]]
    assert skipped == {"reason": "mention has more than 10,000 characters", "n_rows": 1}
