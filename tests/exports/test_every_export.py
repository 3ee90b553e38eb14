"""Every registered export has the positives of the build, and the rows that its manifest counts."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import polars as pl
import pytest
from fixtures.every_output import exports

import medsim

pytestmark = pytest.mark.slow

EXPORTS = [pytest.param(*item, id=f"{item[0]} {'choices' in item[1]}") for item in exports()]


def tables_in(path: Path) -> list[pl.DataFrame]:
    """Return the tables of a file of rows; none for another file."""
    match path.suffix:
        case ".parquet":
            return [pl.read_parquet(path, hive_partitioning=False)]
        case ".jsonl":
            return [pl.read_ndjson(path, infer_schema_length=None)]
        case ".csv":
            return [pl.read_csv(path, infer_schema=False)]
        case ".txt":
            lines = [line.split("||") for line in path.read_text(encoding="utf-8").splitlines()]
            return [pl.DataFrame(lines, orient="row")]
        case ".duckdb":
            with duckdb.connect(str(path), read_only=True) as database:
                names = [name for (name,) in database.sql("show tables").fetchall()]
                return [database.table(name).pl() for name in names]
    return []


def texts_of(table: pl.DataFrame) -> dict[str, set[str]]:
    """Return the texts of each column of texts or of lists of texts."""
    texts = {}
    for column in table.iter_columns():
        flat = column.explode() if column.dtype == pl.List else column
        if flat.dtype == pl.String:
            texts[column.name] = {*flat.drop_nulls()}
    return texts


def names_in(build: medsim.Build) -> set[str]:
    """Return the names and terms of a build, and how they are compared."""
    names = {*build.table("description").collect()["term"], *build.terms()["term"]}
    return names | {name.lower() for name in names}


def positives_in(build: medsim.Build) -> set[frozenset[str]]:
    """Return the pairs of terms with label 1, without order and case."""
    pairs = build.pairs().filter(pl.col("label") == 1).select("term1", "term2")
    return {frozenset((a.lower(), b.lower())) for a, b in pairs.iter_rows()}


def pairs_in(table: pl.DataFrame, columns: list[str]) -> set[frozenset[str]]:
    """Return the different terms in a table's first two columns of terms, without negatives."""
    for label in {"label", "labels"}.intersection(table.columns):
        table = table.filter(pl.col(label) == 1)
    rows = table.select(columns[:2]).iter_rows()
    return {frozenset((a.lower(), b.lower())) for a, b in rows if a.lower() != b.lower()}


@pytest.mark.parametrize(("tool", "options"), EXPORTS)
def test_an_export_has_the_positives_of_the_build_and_the_rows_of_its_manifest(
    tool: str, options: dict[str, object], shared_splits: medsim.Splits, tmp_path: Path
) -> None:
    builds = shared_splits.builds
    terms = {term for build in builds.values() for term in names_in(build)}
    positives = {split: positives_in(build) for split, build in builds.items()}
    positives[""] = set().union(*positives.values())  # of files with all splits

    exported = medsim.export(shared_splits, tmp_path / "out", to=tool, **options)

    n_columns_of_terms = 0
    for file, n_rows in exported.files().iter_rows():
        tables = tables_in(exported.folder / file)
        split = next((part for part in re.split(r"\W", file) if part in builds), "")
        if tables:
            assert n_rows == sum(table.height for table in tables), file
        for table in tables:
            of_terms = []
            for name, texts in texts_of(table).items():
                others = texts - terms  # a column has terms, or other texts, such as identifiers
                assert not others or others == texts, (file, name, sorted(others)[:3])
                of_terms += [name] if texts and not others else []
            n_columns_of_terms += len(of_terms)
            if len(of_terms) > 1 and pl.List not in table.select(of_terms).dtypes:
                wrong = pairs_in(table, of_terms) - positives[split]
                assert not wrong, (file, sorted(map(sorted, wrong))[:3])
    assert n_columns_of_terms >= 2
