"""Tables as text in every format."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from datetime import date, timedelta
from decimal import Decimal
from html import escape

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from medsim.core.printing import FORMAT_NAMES as NAMES
from medsim.core.table_formats import BOLD, TABLE_FORMATS

TABLE, JSON, CSV, MD, LATEX, HTML = "table", "json", "csv", "md", "latex", "html"
READ_BY_PEOPLE = [TABLE, MD, LATEX, HTML]

FRAME = pl.DataFrame(
    {
        "term": ["Alder pox", None, "Birch"],
        "n": [1234567, 0, None],
        "mean": [0.12345678, 1234.5678, None],
        "active": [True, None, False],
    }
)


def rendered(frame: pl.DataFrame, form: str) -> str:
    """Return a frame in a format."""
    return TABLE_FORMATS[form].render(frame)


def lines_of(frame: pl.DataFrame, form: str) -> list[str]:
    """Return the lines of a table, without empty ones before and after."""
    return rendered(frame, form).strip("\n").split("\n")


def column_width(text: str) -> int:
    """Return the number of terminal columns of a text."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


# Each format


def test_a_table_is_aligned_and_easy_to_read() -> None:
    head, rule, *rows = lines_of(FRAME, TABLE)
    assert head.split() == ["term", "n", "mean", "active"]
    assert set(rule) <= {"─", " "}
    assert [row.split() for row in rows] == [
        ["Alder", "pox", "1,234,567", "0.1235", "True"],
        ["0", "1,234.57"],
        ["Birch", "False"],
    ]
    end_of_n = head.index("n") + 1
    assert rows[0].index("1,234,567") + len("1,234,567") == end_of_n  # numbers are right-aligned
    assert rows[1].index("0 ") + 1 == end_of_n


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            CSV,
            [
                "term,n,mean,active",
                "Alder pox,1234567,0.12345678,true",
                ",0,1234.5678,",
                "Birch,,,false",
            ],
        ),
        (
            MD,
            [
                "| term | n | mean | active |",
                "| --- | --: | --: | --- |",
                "| Alder pox | 1,234,567 | 0.1235 | True |",
                "|  | 0 | 1,234.57 |  |",
                "| Birch |  |  | False |",
            ],
        ),
        (
            LATEX,
            [
                r"\begin{tabular}{@{}lrrl@{}}",
                r"\toprule",
                r"term & n & mean & active \\",
                r"\midrule",
                r"Alder pox & 1,234,567 & 0.1235 & True \\",
                r" & 0 & 1,234.57 &  \\",
                r"Birch &  &  & False \\",
                r"\bottomrule",
                r"\end{tabular}",
            ],
        ),
        (
            HTML,
            [
                "<table>",
                "<thead><tr><th>term</th><th>n</th><th>mean</th><th>active</th></tr></thead>",
                "<tr><td>Alder pox</td><td>1,234,567</td><td>0.1235</td><td>True</td></tr>",
                "<tr><td></td><td>0</td><td>1,234.57</td><td></td></tr>",
                "<tr><td>Birch</td><td></td><td></td><td>False</td></tr>",
                "</table>",
            ],
        ),
    ],
)
def test_every_format_has_names_and_values(form: str, expected: list[str]) -> None:
    assert rendered(FRAME, form).split("\n") == expected


def test_help_knows_the_formats_and_none_ends_in_a_line_feed() -> None:
    assert sorted(TABLE_FORMATS) == list(NAMES)
    assert not any(rendered(FRAME, form).endswith("\n") for form in NAMES)
    assert json.loads(rendered(FRAME, JSON)) == FRAME.to_dicts()


@pytest.mark.parametrize("form", [CSV, JSON])
def test_rows_in_parts_give_the_whole_table(form: str) -> None:
    pieces = TABLE_FORMATS[form].pieces
    assert pieces is not None
    for sizes in ([0], [0, 3], [2, 0, 1], [0, 1, 1, 1, 0]):
        starts = [sum(sizes[:at]) for at in range(len(sizes))]
        parts = [FRAME.slice(start, size) for start, size in zip(starts, sizes, strict=True)]
        assert "".join(pieces(iter(parts))) == rendered(FRAME.head(sum(sizes)), form)


# Special characters in terms

STEERING = ["\x00", "\x07", "\b", "\t", "\n", "\x0b", "\r", "\x1b[31m", "\x7f", "\x85", "\x9b"]


@pytest.mark.parametrize("form", READ_BY_PEOPLE)
@pytest.mark.parametrize("character", [*STEERING, "\u2028", "\u2029"])
def test_characters_that_steer_a_terminal_are_replaced(form: str, character: str) -> None:
    frame = pl.DataFrame(
        {
            "text": [f"a{character}b", "next"],
            "category": pl.Series([f"a{character}b", None], dtype=pl.Categorical),
            "list": [[f"a{character}b", "c"], []],
            f"name {character}": ["x", "y"],
        }
    )
    result = rendered(frame, form)
    assert character[0] not in result.replace("\n", "")
    assert "a\N{REPLACEMENT CHARACTER}" in result
    assert len(lines_of(frame, form)) == len(lines_of(pl.DataFrame({"x": ["1", "2"]}), form))


@pytest.mark.parametrize("character", [*STEERING, "\u2028", '"', ",", "'"])
def test_programs_get_every_character(character: str) -> None:
    frame = pl.DataFrame({"a": [f"x{character}y", "z"], "b": ["1", "2"]})
    assert json.loads(rendered(frame, JSON)) == frame.to_dicts()
    if character != "\x00":  # Python's reader does not support NUL
        rows = list(csv.reader(io.StringIO(rendered(frame, CSV), newline="")))
        assert rows == [["a", "b"], [f"x{character}y", "1"], ["z", "2"]]


def test_special_characters_of_latex_are_escaped() -> None:
    frame = pl.DataFrame({"n_pairs": [r"50% & $5 #1 a_b {c} ~d ^e \f"]})
    assert lines_of(frame, LATEX)[2] == r"n\_pairs \\"
    assert lines_of(frame, LATEX)[4] == (
        r"50\% \& \$5 \#1 a\_b \{c\} \textasciitilde{}d \textasciicircum{}e "
        r"\textbackslash{}f \\"
    )


@pytest.mark.parametrize("start", ["[D]Murn", "*Murn"])
def test_latex_row_does_not_begin_like_an_option(start: str) -> None:
    # After "\\" and "\midrule", LaTeX looks on the next line for a star or an option in brackets.
    frame = pl.DataFrame({start: [start, start], "n": [1, 2]})
    rows = [line for line in lines_of(frame, LATEX) if "Murn" in line]
    assert [row.startswith("{}" + start) for row in rows] == [True] * 3


LIVE = [
    "[x](javascript:alert(1))",
    "![x](https://track.invalid/p.png)",
    "[x]: javascript:alert(1)",
    "[x][y] [z]",
    "<img src=x onerror=alert(1)>",
    "<https://evil.invalid>",
    "&lt;img&gt; &#60;b&#62; a & b",
    "**bold** *a* _b_ __c__ ~~d~~ `e`",
    r"\[x](javascript:alert(1)) \\",
    "a | b || c",
    "snake_case is_a HP:0000001",
    "0.800 [0.700, 0.900]",
    "[0.7](javascript:alert(1)) [1][2]",
]


@pytest.mark.parametrize("text", LIVE)
def test_markdown_shows_texts_as_they_are(text: str) -> None:
    frame = pl.DataFrame({text: [text, f"{BOLD}{text}"]})
    reader = MarkdownIt("gfm-like", {"linkify": False, "html": True})

    shown = reader.render(rendered(frame, MD))
    paragraph = reader.render(TABLE_FORMATS[MD].paragraph(text))

    tags = {*re.findall(r"<(\w+)", shown + paragraph)}
    assert tags == {"table", "thead", "tbody", "tr", "th", "td", "strong", "p"}
    cells = re.findall(r"<t[hd]>(.*?)</t[hd]>", shown)
    assert cells == [escape(text), escape(text), f"<strong>{escape(text)}</strong>"]
    assert paragraph == f"<p>{escape(text)}</p>\n"


def test_intervals_and_names_of_columns_need_no_marks_in_markdown() -> None:
    frame = pl.DataFrame(
        {"n_terms": ["0.80 [0.70, 0.90]", "\N{MINUS SIGN}0.1 [\N{MINUS SIGN}0.2, 0]"]}
    )

    assert [line.strip("| ") for line in lines_of(frame, MD)[::2]] == [
        "n_terms",
        frame["n_terms"][0],
    ]


def test_markup_is_unchanged_in_tables() -> None:
    frame = pl.DataFrame({"a|b": ["c|d [red]x[/red]"], "[bold]": ["`f`"]})
    assert lines_of(frame, TABLE)[2].split("   ") == [" c|d [red]x[/red]", "`f`"]


# Nulls, empty frames, widths, kinds


def test_a_last_row_of_nulls_is_not_lost() -> None:
    frame = pl.DataFrame({"a": ["x", None]})
    assert rendered(frame, CSV) == "a\nx\n"
    assert json.loads(rendered(frame, JSON)) == [{"a": "x"}, {"a": None}]
    assert lines_of(frame, MD)[-1] == "|  |"


@pytest.mark.parametrize("form", NAMES)
def test_a_frame_without_rows_has_its_columns(form: str) -> None:
    frame = pl.DataFrame(schema={"term": pl.String, "n": pl.Int64})
    expected = {
        TABLE: "term  n",
        JSON: "[]",
        CSV: "term,n",
        MD: "| term | n |",
        LATEX: r"\begin{tabular}{@{}lr@{}}",
        HTML: "<table>",
    }
    assert " ".join(lines_of(frame, form)[0].split()) == " ".join(expected[form].split())


def test_names_in_latex_are_wrapped_to_the_width_of_their_values() -> None:
    frame = pl.DataFrame({"of_a very long name": ["short one"], "two words": ["as wide as it"]})

    assert lines_of(frame, LATEX)[2] == r"\shortstack[l]{of\_a very \\ long name} & two words \\"


def test_columns_of_wide_and_combining_characters_line_up() -> None:
    terms = ["胃炎", "e\u0301tat", "gastritis", "\U00020000"]
    frame = pl.DataFrame({"term": terms, "kind": ["x"] * 4})
    _, _, *rows = lines_of(frame, TABLE)
    ends = {column_width(row[: row.index("x")]) for row in rows}
    assert len(ends) == 1


@pytest.mark.parametrize("form", READ_BY_PEOPLE)
def test_values_of_every_kind_are_readable(form: str) -> None:
    values: dict[str, tuple[pl.Series, str]] = {
        "large": (pl.Series([-1234567]), "-1,234,567"),
        "small": (pl.Series([0.000123456]), "0.0001235"),
        "negative": (pl.Series([-0.5]), "-0.5"),
        "nan": (pl.Series([float("nan")]), "nan"),
        "infinite": (pl.Series([float("-inf")]), "-inf"),
        "decimal": (pl.Series([Decimal("1.50")]), "1.50"),
        "day": (pl.Series([date(2026, 1, 31)]), "2026-01-31"),
        "list": (pl.Series([["a", "b"]]), "['a', 'b']"),
        "nothing": (pl.Series([None]), ""),
    }
    frame = pl.DataFrame([series.alias(name) for name, (series, _) in values.items()])
    (row,) = [line for line in lines_of(frame, form) if "1,234,567" in line]
    for _, expected in values.values():
        assert expected in row.replace("\\[", "[").replace("\\]", "]")


def test_json_and_csv_support_all_results_of_duckdb() -> None:
    frame = pl.DataFrame(
        {
            "list": [["a,b", "c"], None],
            "struct": [{"x": 1}, {"x": None}],
            "span": [timedelta(days=1), None],
            "bytes": [b"a\xff", None],
            "day": [date(2026, 1, 31), None],
        }
    )
    result = json.loads(rendered(frame, JSON))
    assert [row["list"] for row in result] == [["a,b", "c"], None]
    assert [row["struct"] for row in result] == [{"x": 1}, {"x": None}]
    assert [row["day"] for row in result] == ["2026-01-31", None]
    rows = list(csv.DictReader(io.StringIO(rendered(frame, CSV))))
    assert [row["list"] for row in rows] == ["['a,b', 'c']", ""]
    assert [row["day"] for row in rows] == ["2026-01-31", ""]
    assert all(row["bytes"] in {r"b'a\xff'", ""} for row in rows)


# On a terminal

WIDTHS = [30, 80, 100, 160]
SIZES = pl.DataFrame(
    {
        "dataset": ["possibly_equivalent_to", "syn_syn"],
        "kind": ["pairs", "pairs"],
        **{f"mean_distance_{n}": [n * 1.5, 12_345.678] for n in range(12)},
    }
)
WIDE = pl.DataFrame({"term": ["心臓 " * 30], "n": [1]})
SENTENCES = pl.DataFrame({"n": [1, 2], "promise": ["A pair appears once. " * 9, "It holds."]})


def fitted(frame: pl.DataFrame, width: int) -> list[str]:
    return TABLE_FORMATS[TABLE].fitted(frame, width)[0].split("\n")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "frame",
    [FRAME, SENTENCES, SIZES, pl.concat([SIZES] * 20), SIZES.head(0), pl.DataFrame(), WIDE],
    ids=["fits", "folded", "turned", "cut", "no rows", "empty", "wide characters"],
)
def test_no_line_of_a_table_is_wider_than_the_terminal(frame: pl.DataFrame, width: int) -> None:
    assert max(map(column_width, fitted(frame, width))) <= width


def test_fitting_tables_are_as_in_a_pipe_and_long_texts_wrap_at_spaces() -> None:
    assert fitted(FRAME, 80) == lines_of(FRAME, TABLE)
    lines = fitted(SENTENCES, 40)
    assert len(lines) == 2 + 6 + 1
    assert " ".join(" ".join(lines[2:8]).split()) == "1 " + ("A pair appears once. " * 9).strip()


@pytest.mark.parametrize("width", range(30, 60))
def test_no_line_begins_with_a_star(width: int) -> None:
    cells = ["1.000 avg_cos +0\u22120 *", "0.867 cos +0\u22120 *", "0.5 max_jaccard +0\u22121"]
    frame = pl.DataFrame({"set": ["a", "b", "c"], **dict.fromkeys(("one", "two_"), cells)})

    lines = fitted(frame, width)

    assert not [line for line in lines if "  * " in f"{line} "]
    assert sum(line.count("+0\u22120 *") for line in lines) >= 2
    assert max(map(len, lines)) <= width


def test_few_rows_of_many_columns_become_columns() -> None:
    head, _, *rows = fitted(SIZES, 80)[1:]

    assert head.split() == ["dataset", "possibly_equivalent_to", "syn_syn"]
    assert [row.split()[0] for row in rows] == SIZES.columns[2:]


@pytest.mark.parametrize(("frame", "turned"), [(SIZES, True), (FRAME, False), (SENTENCES, False)])
def test_a_note_says_that_rows_are_printed_as_columns(frame: pl.DataFrame, *, turned: bool) -> None:
    assert TABLE_FORMATS[TABLE].fitted(frame, 80)[1].startswith("the table is too wide") == turned
    assert fitted(SIZES, 80)[0] == " in every row: kind pairs"


def test_copies_of_columns_are_named_above() -> None:
    sizes = [12, 7, 31, 4]
    frame = pl.DataFrame(
        {
            "dataset": list("abcd"),
            "positives": sizes,
            "levenshtein": sizes,
            "note": ["word " * 9] * 4,
        }
    ).with_columns(pl.Series("size", [24, 14, 62, 8]))

    lines = fitted(frame, 40)
    assert " ".join(lines[:2]).startswith(
        " in every row: levenshtein is the same  as positives, note"
    )
    assert ["dataset", "positives", "size"] in [line.split() for line in lines]
    assert "is the same" not in " ".join(fitted(frame.head(3), 40))


def test_columns_that_do_not_fit_are_named() -> None:
    text = " ".join(" ".join(fitted(pl.concat([SIZES] * 20), 80)).split())

    assert "more columns: mean_distance_" in text
    assert "mean_distance_11; use the format csv or a wider terminal to see all" in text


@given(
    columns=st.lists(
        st.sampled_from(["0.5 0.25 1 0.125", "7 7 7 7", "3 4 5 6", "9 8 7 1"]), max_size=9
    ),
    width=st.integers(12, 90),
)
def test_each_column_is_shown_or_named_above_or_below(columns: list[str], width: int) -> None:
    values = {f"measure{at}": list(map(float, column.split())) for at, column in enumerate(columns)}
    frame = pl.DataFrame({"set": ["p", "q", "r", "s"], **values})

    text = " ".join(" ".join(fitted(pl.concat([frame] * 9), width)).split())

    below = text.partition(" more column")[2]
    above = re.match(r"in every row: ((?:\w+ (?:7|is the same as \w+),? )*)", text)
    named_above = dict(re.findall(r"(\w+) (7|is the same as \w+)", above[1])) if above else {}
    body = text[above.end() if above else 0 :].removesuffix(below)
    shown = {name for name in frame.columns if name in body.split()}
    for name in values:
        assert (name in shown) + (name in named_above) + (name in re.findall(r"\w+", below)) == 1
        assert (
            named_above.get(name, "7") == "7"
            or named_above[name].removeprefix("is the same as ") in shown
        )


def test_no_word_is_broken_while_other_columns_can_shrink() -> None:
    names = ["alpha", "accuracy", "no_ground_truth", "recall", "precision"]
    values = {
        name: [f"0.{at}{row} [0.877, 0.962]" for row in range(2)] for at, name in enumerate(names)
    }
    frame = pl.DataFrame({"dataset": ["fsn_syn", "syn_syn"], **values})
    whole = {word for texts in values.values() for text in texts for word in text.split()}
    pieces = {*names, "no_ground_", "truth", "dataset", "fsn_syn", "syn_syn"}

    for width in range(60, 100):
        lines = fitted(frame, width)
        words = {word for line in lines for word in line.split() if "─" not in word}
        assert words <= whole | pieces
        assert "precision" in words
