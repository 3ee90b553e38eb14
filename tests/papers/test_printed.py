"""The papers' printed numbers: tables are complete, and agree with themselves and each other."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from medsim.papers import published

PAPERS = {
    path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8"))
    for path in (files("medsim.papers") / "printed").iterdir()
}
SCHULZ = {table["name"]: table for table in PAPERS["schulz-2020"]["tables"]}
TABLES = [(paper, table) for paper, content in PAPERS.items() for table in content["tables"]]
COUNTED = ("4", "5", "B.1", "C.1")
METRICS = [f"B.{n}" for n in (2, 3, 4, 5)] + [f"C.{n}" for n in (4, 5, 6, 7, 8)]
UNEQUAL = {
    ("C.4", "BioNLP PM", "SYN.-SYN. easy"),
    ("C.5", "BioASQ", "POSS.-EQUIV.-TO hard"),
    ("C.5", "LTL win30", "POSS.-EQUIV.-TO hard"),
    ("C.5", "LTL win30", "REPLACED-BY hard"),
    ("C.8", "Fasttext Crawl M", "SAME-AS easy"),
}
"""The cells of metrics whose printed counts of better and worse differ."""


def cells(table: dict) -> dict[tuple[str, str], str | None]:
    """Return the cells of a table by row and column."""
    return {
        (row, column): cell
        for row, values in zip(table["rows"], table["cells"], strict=True)
        for column, cell in zip(table["columns"], values, strict=True)
    }


def counts(text: str) -> tuple[int, int]:
    """Return how many are worse (+) and better (-), summed over a text with such counts."""
    found = re.findall(r"(?<=[ /])([+-])(\d+)(?![\d.])", text)
    better, worse = (sum(int(n) for sign, n in found if sign == s) for s in "+-")
    return better, worse


def number(text: str | None) -> float:
    plain = (text or "").translate(str.maketrans("\u2212", "-", ",'"))
    return float(plain.split()[0])


@pytest.mark.parametrize(
    ("paper", "table"), TABLES, ids=[f"{paper}: {table['name']}" for paper, table in TABLES]
)
def test_what_is_missing_is_of_the_table(paper: str, table: dict) -> None:
    tables = {table["name"]: table for table in PAPERS[paper]["tables"]}
    missing = table.get("missing", {})
    assert {*missing} <= {*table["rows"], *table["columns"], ""}
    assert all(reason == reason.strip(". ") and reason[:1].islower() for reason in missing.values())
    for row, (name, at, column) in table.get("same", {}).items():
        assert row in table["rows"]
        assert at in tables[name]["rows"]
        assert column in {*tables[name]["columns"], ""}


def test_counted_cells_are_printed() -> None:
    tables = {table["name"]: table for table in PAPERS["chiu-2018"]["tables"]}
    places = [place for of in PAPERS["chiu-2018"]["counted"].values() for place in of]
    assert len(places) == 10
    for place in places:
        name, row, *column = place.split(": ")
        assert row in tables[name]["rows"]
        assert {*column} <= {*tables[name]["columns"]}


def test_sizes_of_subsets_are_repeated() -> None:
    repeated = cells(SCHULZ["B.1"])
    for name in ("B.2", "B.3", "B.4", "B.5"):
        found = {key: text for key, text in cells(SCHULZ[name]).items() if key[0] == "Subset Size"}
        assert found == {key: text for key, text in repeated.items() if key in found}


def test_every_paper_is_printed_computed_and_documented() -> None:
    pages = (Path(__file__).parents[2] / "docs" / "explanation").glob("paper-*.md")
    assert {*PAPERS} == {*published.PAPERS.all()} == {p.stem.removeprefix("paper-") for p in pages}
    main = [str(n) for n in range(1, 7)]
    appendix = ["A.1", "A.2", *(f"B.{n}" for n in range(1, 6)), *(f"C.{n}" for n in range(1, 9))]
    tables = [n for n in SCHULZ if not n.startswith(("text", "figure"))]
    assert tables == [*main, *appendix, "D.1"]


@pytest.mark.parametrize(
    ("paper", "table"), TABLES, ids=[f"{paper}: {table['name']}" for paper, table in TABLES]
)
def test_tables_are_rectangular_and_their_names_unique(paper: str, table: dict) -> None:
    assert [name for p, t in TABLES if p == paper and (name := t["name"]) == table["name"]] == [
        table["name"]
    ]
    optional = {"note", "blank", "same", "missing"}
    assert set(table) - optional == {"name", "section", "caption", "columns", "rows", "cells"}
    assert len(table["cells"]) == len(set(table["rows"])) == len(table["rows"])
    assert {len(values) for values in table["cells"]} <= {len(set(table["columns"]))}
    texts = [
        *table["rows"],
        *table["columns"],
        *(c for c in cells(table).values() if c is not None),
    ]
    assert all(text.strip() == text != "" for text in texts)
    assert [text for text in texts if re.search(r"[\\$<>^_{}]", re.sub(r"_\w|< 0", "", text))] == []


@pytest.mark.parametrize("name", ["1", "2", "3", "4", "5", "6", "B.1", "C.1", "C.2", "C.3", "D.1"])
def test_tables_of_scores_have_no_empty_cells(name: str) -> None:
    assert None not in cells(SCHULZ[name]).values()


def test_names_of_embeddings_and_datasets_are_those_of_the_first_tables() -> None:
    embeddings, generated = SCHULZ["5"]["rows"], SCHULZ["2"]["rows"]
    rated = [*SCHULZ["1"]["rows"], *(c for c in SCHULZ["B.1"]["columns"] if "MiniMayo" in c)]
    for name in ("4", *COUNTED, *METRICS, "6", "C.2", "C.3", "D.1"):
        assert set(SCHULZ[name]["rows"]) <= set(embeddings)
        if name not in {"6", "D.1"}:
            known = rated if name[0] in "4B" else generated
            assert set(SCHULZ[name]["columns"]) <= set(known)
    assert {row.split(" all")[0] for row in generated if row.endswith(" all")} == {
        column.split(" ")[0] for column in SCHULZ["3"]["columns"]
    }
    assert set(SCHULZ["A.1"]["rows"]) < set(embeddings)


@pytest.mark.parametrize("name", COUNTED)
def test_as_many_embeddings_are_better_as_are_worse(name: str) -> None:
    found = cells(SCHULZ[name])
    for column in SCHULZ[name]["columns"]:
        better, worse = counts("\n".join(str(c) for (_, of), c in found.items() if of == column))
        assert better == worse > 0, column


def test_as_many_metrics_are_better_as_are_worse() -> None:
    unequal = set()
    for name in METRICS:
        for (row, column), cell in cells(SCHULZ[name]).items():
            if cell is None or row == "Subset Size":
                continue
            metrics = [part.split(": ")[0] for part in cell.split("; ")]
            assert len(set(metrics)) == len(metrics)
            assert set(metrics) <= {"fJ", "mJ"} | {
                f"{how}{metric}"
                for how in ("avg_", "pair_", "")
                for metric in ("cos", "r", "rho", "tau")
            }
            better, worse = counts(cell)
            if better != worse:
                unequal.add((name, row, column))
    assert unequal == UNEQUAL


def test_metrics_of_word_embeddings_differ_on_the_largest_set_of_associations() -> None:
    contextual = {"ELMoPubMed", "Flair", "SciBERT", "BERT", "ELMo", "GPT"}
    for name in METRICS[4:]:
        found = cells(SCHULZ[name])
        for row in {*SCHULZ[name]["rows"]} - contextual:  # 56,054 pairs against 654
            assert found[row, "POSS.-EQUIV.-TO hard"] is not None
        assert SCHULZ[name]["blank"] == "none"


def test_easy_and_hard_pairs_make_up_the_set() -> None:
    found = cells(SCHULZ["2"])
    whole = [row.removesuffix("all") for row in SCHULZ["2"]["rows"] if row.endswith(" all")]
    assert len(whole) == 5
    for name in whole:
        easy, hard = number(found[name + "easy", "Size"]), number(found[name + "hard", "Size"])
        assert easy + hard == number(found[name + "all", "Size"])
        for column in ("Pos", "Neg-R", "Neg-L"):
            total = easy * number(found[name + "easy", column])
            total += hard * number(found[name + "hard", column])
            mean = number(found[name + "all", column])
            assert total / (easy + hard) == pytest.approx(mean, abs=0.01)


def test_the_best_metric_is_at_least_as_good_as_another() -> None:
    best = cells(SCHULZ["B.1"])
    better = {
        key
        for key, cell in cells(SCHULZ["4"]).items()
        if key[0] != "Subset Size" and number(cell) >= number(best[key]) + 0.01
    }
    assert better == {("ELMo", "Bio-SimVerb")}, "the paper prints 0.54 and 0.51"


def test_average_overlaps_are_those_of_the_rows() -> None:
    table = SCHULZ["A.2"]
    for values in table["cells"]:
        overlaps = [number(value) for value in values[:-2] if value is not None]
        assert len(overlaps) == 11
        assert sum(overlaps) / 11 == pytest.approx(number(values[-2]), abs=0.011)


def test_table_6_repeats_table_d1() -> None:
    repeated = cells(SCHULZ["D.1"])
    found = cells(SCHULZ["6"])
    assert found == {key: repeated[key] for key in found}


def test_instances_and_terms_of_biowic_add_up() -> None:
    tables = {table["name"]: table for table in PAPERS["rouhizadeh-2024"]["tables"]}
    by_split = [[number(cell) for cell in values] for values in tables["3"]["cells"]]
    for values in by_split:
        assert sum(values[:4]) == values[4]
    for column in range(5):
        *splits, everything = (values[column] for values in by_split)
        assert sum(splits) == everything
    unequal = set()
    for name, width in (("4", 8), ("5", 6)):
        rows = [[number(cell) for cell in values] for values in tables[name]["cells"]]
        for column in range(0, width, 2):
            *parts, everything = (values[column] for values in rows)
            if sum(parts) != everything:
                unequal.add((name, tables[name]["columns"][column], sum(parts) - everything))
        for values in rows:
            assert sum(values[0 : width - 2 : 2]) == values[width - 2]
    assert unequal == {("5", "Seen #", -1), ("5", "Unseen #", 1)}, "the paper's own totals"


def test_quarters_of_the_rated_sets_of_words_make_up_the_sets() -> None:
    tables = {table["name"]: table for table in PAPERS["chiu-2018"]["tables"]}
    sizes = cells(tables["text 3 size"])
    quarters = cells(tables["text 3 quarters"])
    for name in ("Bio-SimLex", "Bio-SimVerb"):
        parts = [
            number(cell)
            for (row, column), cell in quarters.items()
            if column == name and "associated" in row
        ]
        assert len(parts) == 4
        assert sum(parts) == number(sizes[name, "Pairs"])
