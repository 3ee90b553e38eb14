"""The columns of what a user's statement returns, as Polars can take them."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from collections.abc import Iterator

# The types of DuckDB that Polars has as well, and prints whatever their values.
_PLAIN = frozenset(
    (
        *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "float", "double"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "decimal", "varchar", "blob", "uuid"),
        *("null", "list", "array", "struct", "tuple"),
    )
)
_TEMPORAL = frozenset(
    ("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone")
)


def told_apart(relation: duckdb.DuckDBPyRelation, *, as_text: bool) -> duckdb.DuckDBPyRelation:
    """Return a relation whose columns have names of their own and types that Polars has."""
    taken: set[str] = set()
    chosen = []
    for place, (given, kind) in enumerate(zip(relation.columns, relation.types, strict=True), 1):
        name = next(one for one in _names_like(given) if one.lower() not in taken)
        taken.add(name.lower())
        column = duckdb.SQLExpression(f"#{place}")
        plain = _is_plain(kind, _PLAIN if as_text else _PLAIN | _TEMPORAL)
        chosen.append((column if plain else column.cast("VARCHAR")).alias(name))
    return relation.project(*chosen)


def _names_like(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(1))


def _is_plain(kind: duckdb.sqltypes.DuckDBPyType, accepted: frozenset[str]) -> bool:
    """Return whether a type is accepted, and so are those of what it holds."""
    if kind.id not in accepted:
        return False
    inner = kind.children if kind.id in {"list", "array", "struct", "tuple"} else ()
    types = (one for _, one in inner if isinstance(one, type(kind)))
    return all(_is_plain(one, accepted) for one in types)
