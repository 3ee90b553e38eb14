"""Every SQL file has a header that says what it does and agrees with the body."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from medsim.core import queries

FOLDER = Path(__file__).parents[2] / "sql"
NAMES = sorted(
    path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.sql")
)


def parts_of(name: str) -> tuple[list[str], str]:
    """Return the comment lines at the start of a file, without dashes, and the rest."""
    lines = (FOLDER / f"{name}.sql").read_text(encoding="utf-8").splitlines()
    n_header = next(at for at, line in enumerate(lines) if not line.startswith("--"))
    return [line[2:].strip() for line in lines[:n_header]], "\n".join(lines[n_header:])


def test_headers_open_with_a_sentence() -> None:
    for name in NAMES:
        header, body = parts_of(name)
        sentence = " ".join(header[: header.index("")])
        assert re.fullmatch(r"[A-Z][^.]*(\.|\.[^.\s][^.]*\.)", sentence), f"{name}: {sentence}"
        assert body.startswith("\n"), f"{name}: a blank line ends the header"
        assert queries.query(name).sentence == sentence, name


def test_headers_say_what_is_written() -> None:
    for name in NAMES:
        header, _ = parts_of(name)
        assert sum(line.startswith("writes  ") for line in header) == 1, name
        (writes, *_) = queries.query(name).header["writes"]
        assert writes, name


def test_the_body_uses_the_declared_params() -> None:
    for name in NAMES:
        header, body = parts_of(name)
        declared = set()
        in_params = False
        for line in header:
            in_params = line.startswith("params  ") or (in_params and line.startswith("$"))
            if in_params:
                declared.add(line.removeprefix("params").split()[0])
        strings_aside = re.sub(r"'[^']*'", "''", body)
        used = set(re.findall(r"\$[a-z_]\w*", strings_aside))
        assert declared == used, name


def test_a_view_has_no_parameters() -> None:
    for name in NAMES:
        _, body = parts_of(name)
        advice = "DuckDB's views take no parameters: filter in a table that reads the view"
        assert "create or replace view" not in body or "$" not in body, f"{name}: {advice}"


def test_a_file_is_one_statement_that_creates_its_name_or_returns_sorted_rows() -> None:
    with duckdb.connect(":memory:") as parser:  # it parses statements without running them
        for name in NAMES:
            text = (FOLDER / f"{name}.sql").read_text(encoding="utf-8")
            statements = parser.extract_statements(text)
            assert len(statements) == 1, name
            header, body = parts_of(name)
            stem = name.rsplit("/", maxsplit=1)[-1]
            if statements[0].type == duckdb.StatementType.SELECT:
                one_row = any(line.startswith("writes  one row") for line in header)
                assert one_row or "\norder by" in body, name  # of the outermost select
            else:
                pattern = rf"\s*(create or replace (table|macro|view)|update) {stem}\b"
                assert re.match(pattern, body), name


def test_every_macro_is_called_by_a_query() -> None:
    macros = {name: queries.query(name).macros for name in NAMES}
    called = {macro for name in NAMES for macro in macros[name] if name != f"macros/{macro}"}
    assert called == {name.removeprefix("macros/") for name in NAMES if name.startswith("macros/")}


def test_the_folder_has_only_queries() -> None:
    others = [path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != ".sql"]
    assert others == []
    assert len(NAMES) > 40
