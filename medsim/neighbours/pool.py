"""Pools of names from files, builds and Python objects, and exact searches among them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import polars as pl

from medsim.core.addresses import mirror, push
from medsim.core.config import checked_threads
from medsim.core.errors import InputError, OptionError, listed
from medsim.core.files import new_file
from medsim.core.opened import open_output
from medsim.core.options import OpenedFolder, public, type_of
from medsim.core.output import check_file_free
from medsim.core.parquet import scan_of_users, write_batches
from medsim.core.progress import Progress, progress_of
from medsim.core.reading import expanded, json_columns, reading
from medsim.core.tables import (
    LINE_END,
    bytes_of,
    is_json_lines,
    is_parquet,
    read_text,
    table_of,
)
from medsim.core.terms import MAX_NAME, TOO_LONG, lowered_column, numbers_of
from medsim.kernels.best import FAR, Nearest
from medsim.kernels.near_pairs import MATCH, QUERY
from medsim.kernels.types import Ids
from medsim.neighbours.options import NearestOptions, Ties
from medsim.neighbours.output import NEAREST_SUFFIXES
from medsim.neighbours.search import NearestSearch, Terms, pairs_within, part_of, queries_in
from medsim.terminologies.sources.table import cell_text, table_values

if TYPE_CHECKING:
    from medsim.kernels.edit_search import Queries
    from medsim.neighbours.search import Advance


USUAL_COLUMNS = ("term", "name", "label", "synonym", "text", "query", "match")
"""The columns that names are taken from if no column is given, the first that a file has."""

_DELIMITED = (".csv", ".tsv", ".psv")
_DATABASES = (".duckdb", ".db", ".sqlite", ".sqlite3")

_Warn: TypeAlias = Callable[[str], object]
_Columns: TypeAlias = Sequence[str | None]  # that of the names, or None; then others to keep


def names_of(
    given: object,
    option: str,
    column: str | None = None,
    warn: Callable[[str], object] = lambda _warning: None,
) -> pl.Series:
    """Return names as a column of strings, without blank ones.

    Args:
        given: a file, the folder of a build, an opened build, or a list, Series or array of
            strings of Python, Polars, pandas, Arrow or NumPy.
        option: the option that gives them, for messages.
        column: the column of a table; by default the only one, or the first of ``USUAL_COLUMNS``.
        warn: called with a warning about a file.

    Raises:
        InputError: a file or folder cannot be read, has no names, or a name is too long.
        OptionError: an object holds something else than strings.
    """
    return _rows_of(given, option, [column], None, warn)[""]


def _rows_of(
    given: object, option: str, columns: _Columns, table: str | None, warn: _Warn
) -> pl.DataFrame:
    """Return names as ``names_of`` does, in a column named "", and other columns as text.

    A build has the names of its active concepts, and the columns of its table ``description``.
    """
    if isinstance(given, (str, Path)):
        path = expanded(given)
        if not path.exists():
            raise InputError(f"{path} does not exist")
        if not path.is_dir():
            return _checked(_read(path, columns, table or "", warn), path)
        given = cast("OpenedFolder", open_output(path))
    column, *kept = columns
    if column is not None:
        raise OptionError(f"`{option}` has no columns; a column needs a table such as .csv")
    if isinstance(given, OpenedFolder):
        build: Any = given
        if not hasattr(build, "terms"):
            raise InputError(f"{given.folder} has no names; give the folder of a build")
        concepts = build.table("concept").filter("active").select("concept_id")
        named = build.table("description").filter("active")
        named = named.join(concepts, on="concept_id", how="semi").sort("description_id")
        rows = _selected(given.folder, named.collect(), ["term", *kept])
        rows = rows.unique(maintain_order=True)
        return _checked(rows, given.folder)
    if kept:
        raise OptionError(f"`{option}` has no columns to keep; give a file, or a build")
    return _checked(_texts_of(given, option).to_frame(""), f"`{option}`")


def _checked(rows: pl.DataFrame, place: Path | str) -> pl.DataFrame:
    """Return rows without those whose name, the first column, is blank.

    Raises:
        InputError: a name is too long, or a file or folder has no names.
    """
    names = rows.to_series()
    for row in (names.str.len_chars() > MAX_NAME).arg_true().head(1):
        raise InputError(f"{place}: row {row + 1:,} {TOO_LONG}")
    rows = rows.filter(names.str.strip_chars() != "")
    if isinstance(place, Path) and rows.is_empty():
        raise InputError(f"{place} has no names")
    return rows


def _texts_of(given: object, option: str) -> pl.Series:
    """Return an object as a column of strings."""
    return _texts(given if isinstance(given, pl.Series) else _listed(given, option), f"`{option}`")


def _texts(names: pl.Series, what: str) -> pl.Series:
    """Return a column as strings; null is an error."""
    if not isinstance(names.dtype, (pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise OptionError(f"{what} takes strings, not {names.dtype}")
    if names.null_count():
        raise OptionError(f"{what} has no value in row {names.is_null().arg_max() or 0}")
    return names.cast(pl.String)


def _listed(given: Any, option: str) -> pl.Series:
    """Return an array or sequence as a column."""
    kind, dimensions = type_of(given), getattr(given, "ndim", 1)
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, pandas and NumPy
        if hasattr(given, method):
            given = getattr(given, method)()
    try:
        if dimensions == 1 and not hasattr(given, "columns"):
            return pl.Series(list(given), dtype=pl.String)
    except (TypeError, ValueError) as error:  # also strings that are not valid Unicode
        raise OptionError(f"`{option}` takes strings, not {kind}") from error
    raise OptionError(f"`{option}` takes strings in one dimension, not {kind}")


def _read(path: Path, columns: _Columns, table: str, warn: _Warn) -> pl.DataFrame:
    """Return the names of a file, and other columns of their rows; see ``_rows_of``."""
    if is_parquet(path):
        with reading(path, "Parquet"):
            rows = scan_of_users(path)
            needed = {_column(path, rows.collect_schema().names(), each) for each in columns}
            return _selected(path, rows.select(needed).collect(), columns)
    if path.suffix.lower() in _DATABASES:
        return _selected(path, table_values(path, table), columns)
    if is_json_lines(path):
        with reading(path, "JSON lines"):
            return _selected(path, json_columns(path, bytes_of(path)[0]), columns)
    needed = {columns[0].lower()} if columns[0] else set()
    usual = needed or {*USUAL_COLUMNS}
    with reading(path):
        text = read_text(
            path, fits=lambda row: not usual.isdisjoint(map(str.lower, row)), sheet=table
        )
    for warning in text.warnings:
        warn(warning)
    if text.sheet or path.suffix.lower() in _DELIMITED:
        return _selected(path, table_of(text, [*needed], None).frame, columns)
    if any(columns):
        raise OptionError(f"{path} is read as lines; a column needs a table such as .csv")
    return pl.DataFrame({"": LINE_END.split(text.content)})


def _selected(place: Path, rows: Any, columns: _Columns) -> pl.DataFrame:
    """Return columns of a frame or of lists by name; see ``_rows_of``."""
    header = list(rows) if isinstance(rows, dict) else rows.columns
    chosen, *kept = (_column(place, header, each) for each in columns)
    names, others = rows[chosen], {}
    if not isinstance(names, pl.Series):
        if not all(value is None or isinstance(value, str) for value in names):
            raise InputError(f"{place}: {chosen} has values that are not text")
        names = pl.Series(names, dtype=pl.String)
    for name, each in zip(columns[1:], kept, strict=True):
        others[name] = pl.Series(list(map(cell_text, rows[each])), dtype=pl.String)
    frame = pl.DataFrame({"": names, **others}).drop_nulls("")
    return frame.with_columns(_texts(frame[""], f"{place}: {chosen}"))


def _column(path: Path, columns: list[str], chosen: str | None) -> str:
    """Return the column to read; case does not count."""
    if chosen is None and len(columns) == 1:
        return columns[0]
    for name in USUAL_COLUMNS if chosen is None else (chosen.lower(),):
        matching = [column for column in columns if column.lower() == name]
        if len(matching) > 1:
            raise InputError(f"{path} has several columns {name}")
        if matching:
            return matching[0]
    ask = "its columns are" if chosen else "choose one with `query_column` or `pool_column`:"
    raise InputError(
        f"{path} has no column {chosen or 'named term, name or label'}; {ask} "
        f"{listed(columns) or 'none'}"
    )


NEAREST = pl.Schema(
    {"query": pl.String, "rank": pl.Int32, "match": pl.String, "distance": pl.Int32}
)
"""The columns of nearest names; rank is 1 for the nearest."""

PAIRS = pl.Schema({"query": pl.String, "match": pl.String, "distance": pl.Int32})
"""The columns of pairs within a distance."""

_QUERIES_AT_ONCE = 1 << 18
_MATCHES_AT_ONCE = 1 << 22
_NAMES_PER_QUERY = 1 << 15
_MORE = 15, 127  # ties beyond k to begin with; then all names are compared


class Pool:
    """Names prepared once for any number of searches by Levenshtein distance.

    The results are exact: they are those of comparing every query with every name. Names that are
    equal, by default ignoring case, count once, with the first spelling.

    Args:
        names: a list, Series or array of strings (Python, Polars, pandas, Arrow, NumPy), a file
            with a name per line, or a build.
        match_case: whether upper and lower case differ. If not, names are compared in lower case
            and in Unicode's form C (NFC).
        threads: number of threads, by default all; results do not depend on it.

    Attributes:
        names: the names, in order of the compared texts.

    Raises:
        InputError: a file or build cannot be read.
        OptionError: a name is not a string.
    """

    def __init__(self, names: Any, *, match_case: bool = False, threads: int | None = None) -> None:
        self._match_case, self._threads = match_case, checked_threads(threads)
        given = self._keyed(names_of(names, "names"))
        self._given = given.unique("key", keep="first", maintain_order=True)
        self._frame = self._given.sort("key")
        self._keys, self.names = self._frame["key"], self._frame["name"]

    def __len__(self) -> int:
        return len(self.names)

    def nearest(
        self,
        queries: Any = None,
        k: int = 1,
        *,
        max_distance: int | None = None,
        ties: Ties = "first",
    ) -> pl.DataFrame:
        """Return the nearest names of each query.

        Args:
            queries: names, as for the pool; by default the names of the pool, which do not match
                themselves.
            k: number of names for each query.
            max_distance: the largest distance; by default any.
            ties: "first" for k names, where equal distances are in order of the compared texts;
                "all" also for the other names at the distance of the last one.

        Returns:
            The columns query, rank (from 1), match and distance, in the order of the queries. A
            query that is equal to a name has the distance 0.
        """
        batches = self.batches(queries, k, max_distance=max_distance, ties=ties)
        return pl.concat([pl.DataFrame(schema=NEAREST), *batches])

    def batches(
        self,
        queries: Any = None,
        k: int = 1,
        *,
        max_distance: int | None = None,
        ties: Ties = "first",
        advance: Advance = lambda _n_queries: None,
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows of ``nearest`` in batches, so that any number of them fits in memory.

        ``advance`` is called with the number of finished queries.
        """
        options = NearestOptions((), k=k, max_distance=max_distance, ties=ties)
        given = self._given if queries is None else self._keyed(names_of(queries, "queries"))
        n_matches = min((options.k or 1) + (ties == "all") * _MORE[-1], len(self) or 1)
        n_at_once = max(1, min(_QUERIES_AT_ONCE, _MATCHES_AT_ONCE // n_matches))
        for part in given.iter_slices(n_at_once):
            searched = self._queries_of(part["key"], are_names=queries is None)
            for found in self._ranked(searched, options):
                yield self._named(part, found).select(NEAREST.names())
            advance(part.height)

    def pairs(self, max_distance: int, queries: Any = None) -> pl.DataFrame:
        """Return all pairs of names within a distance, or of queries and names.

        Args:
            max_distance: the largest distance, 1 to 4.
            queries: names, as for the pool; by default the names of the pool, in pairs with the
                other names.

        Returns:
            The columns query, match and distance. Without queries, each pair once, the query before
            the match in order of the compared texts, in this order. With queries, in the order of
            the queries, then of distances, then of the texts; a query that is equal to a name has
            the distance 0, and equal queries count once.
        """
        NearestOptions((), max_distance=max_distance or 0)  # checks it
        if queries is None:
            asked = self._frame
            rows, ids, distances = pairs_within(self._keys, max_distance, threads=self._threads)
            pairs = pl.DataFrame({"row": rows, "id": ids, "distance": distances})
        else:
            asked = self._keyed(names_of(queries, "queries"))
            asked = asked.unique("key", keep="first", maintain_order=True)
            if asked.height * _NAMES_PER_QUERY < len(self):  # then comparing the names takes longer
                limits = np.full(asked.height, max_distance, np.int32)
                pairs = _matches_of(self._search.within(self._queries_of(asked["key"]), limits))
            else:
                pairs = self._pairs_with(asked["key"], max_distance)
        return self._named(asked, pairs).select(PAIRS.names())

    def _pairs_with(self, asked: pl.Series, max_distance: int) -> pl.DataFrame:
        """Return the pairs of distinct queries and names within a distance: row, id, distance."""
        keys = pl.concat([self._keys, asked]).unique().sort()
        rows, ids = (numbers_of(keys, side) for side in (asked, self._keys))
        sides = rows.is_not_null().cast(pl.UInt8) * QUERY + ids.is_not_null().cast(pl.UInt8) * MATCH
        found = pairs_within(keys, max_distance, sides=sides.to_numpy(), threads=self._threads)
        same = np.arange(len(keys), dtype=np.int32)
        ways = np.hstack([found, found[[1, 0, 2]], [same, same, 0 * same]])
        pairs = {"row": rows.gather(ways[0]), "id": ids.gather(ways[1]), "distance": ways[2]}
        return pl.DataFrame(pairs).drop_nulls().sort("row", "distance", "id")

    @cached_property
    def _search(self) -> NearestSearch:
        """The names, laid out for the search; equal distances are in order of text."""
        n_names = len(self)
        candidates = Terms(
            terms=self._keys,
            components=np.arange(n_names, dtype=np.int32),
            hashes=np.zeros(n_names, np.uint64),
        )
        return NearestSearch(candidates, seed=0, threads=self._threads)

    def _keyed(self, names: pl.Series) -> pl.DataFrame:
        """Return names without outer white space, and the texts that are compared: name, key."""
        names = names.str.strip_chars()
        keys = names if self._match_case else lowered_column(names)
        return pl.DataFrame({"key": keys.rename("key"), "name": names.rename("name")})

    def _queries_of(self, keys: pl.Series, *, are_names: bool = False) -> Queries:
        """Return texts as queries of the search; those of names do not match themselves."""
        rows = self._keys.search_sorted(keys).to_numpy().astype(np.int32)
        if are_names:
            return queries_in(self._search.pool, rows)
        return self._search.queries_of(keys, rows)

    def _named(self, asked: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
        """Return matches with the query and the match."""
        query, match = asked["name"].gather(found["row"]), self.names.gather(found["id"])
        return found.with_columns(query=query, match=match)

    def _ranked(self, queries: Queries, options: NearestOptions) -> Iterator[pl.DataFrame]:
        """Yield the nearest names of queries in order: row, id, distance and rank.

        With all ties, queries may have as many matches as there are names. They are searched again
        up to the distance of the last match, and yielded in batches.
        """
        k = options.k or 1
        limit = FAR if options.max_distance is None else options.max_distance
        left, done = np.arange(len(queries.rows), dtype=np.int32), []
        for n_more in _MORE if options.ties == "all" else (0,):
            asked, wanted = part_of(queries, left), np.full(len(left), k, np.int32)
            found = _ranked(self._search.find(asked, wanted, limit, spare=n_more), left)
            if not n_more:
                yield found
                return
            lacking = found.filter(rank=k + n_more)  # the last one, beyond which there may be ties
            done.append(found.join(lacking, on="row", how="anti"))
            left = lacking["row"].to_numpy()
            if not len(left):
                break
        whole = pl.concat(done).sort("row", "rank")
        first, n_at_once = 0, max(self._threads, _MATCHES_AT_ONCE // max(1, len(self)))
        for part in lacking.iter_slices(n_at_once):
            rows = part["row"].to_numpy()
            within = self._search.within(part_of(queries, rows), part["distance"].to_numpy())
            longer = _ranked(within, rows)
            before = whole.filter(pl.col("row").is_between(first, rows[-1]))
            yield pl.concat([before.select(longer.columns), longer]).sort("row", "rank")
            first = rows[-1] + 1
        yield whole.filter(pl.col("row") >= first)


def _matches_of(nearest: Nearest, rows: Ids | None = None) -> pl.DataFrame:
    """Return the matches of queries in lists as a table: row, id and distance."""
    counts = np.diff(nearest.starts)
    listed = np.arange(len(counts), dtype=np.int32) if rows is None else rows
    columns = {"id": nearest.ids, "distance": nearest.distances}
    return pl.DataFrame({"row": np.repeat(listed, counts), **columns})


def _ranked(nearest: Nearest, rows: Ids) -> pl.DataFrame:
    """Return the matches of queries with their ranks."""
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("row")
    return _matches_of(nearest, rows).with_columns(rank=rank)


@public(NearestOptions)
def nearest(options: NearestOptions) -> pl.DataFrame:
    """Return the nearest names of each query by Levenshtein distance, exactly.

    Without a pool, a list is compared with itself. Names are compared in lower case by default, and
    equal ones count once. ``Pool`` prepares a pool for several calls, and ``Pool.batches`` yields
    rows in batches.

    Returns:
        The columns query, rank (from 1), match and distance, in the order of the queries. With
        max_distance and without k, all pairs: query, match and distance; see ``Pool.pairs``. Kept
        columns are text, named query_COLUMN and match_COLUMN, and names of several rows have rows
        for each.

    Raises:
        InputError: a file or build cannot be read.
        OptionError: an option is out of range, or a name is not a string.
    """
    return pl.concat(batches_of(options))


def batches_of(options: NearestOptions) -> Generator[pl.DataFrame]:
    """Yield the rows of ``nearest`` in batches, an empty one first."""
    progress = progress_of(options.progress)
    with progress.stage("read the names"):
        columns, table = (options.query_column, *options.keep), options.query_table
        rows = _rows_of(options.queries, "queries", columns, table, progress.warn)
        queries, pool = None if options.pool is None else rows[""], options.pool
        matches = rows if queries is None else pl.DataFrame({"": []})
        if queries is not None and not isinstance(pool, Pool):
            columns, table = (options.pool_column, *options.keep_pool), options.pool_table
            matches = _rows_of(pool, "pool", columns, table, progress.warn)
        if not isinstance(pool, Pool):
            pool = Pool(matches[""], match_case=options.match_case, threads=options.threads)
    sides = []
    if options.keep or options.keep_pool or options.duplicates:
        sides = [_sided(rows, "query", pool), _sided(matches, "match", pool)]
        if queries is not None:  # equal ones come back with their columns
            queries = sides[0].unique("key", keep="first", maintain_order=True)["query"]
    if options.duplicates:
        is_first = pl.col("key").is_first_distinct()
        firsts, others = sides[0].filter(is_first), sides[1].filter(~is_first)
        same = firsts.join(others, on="key", maintain_order="left_right").drop("key")
        yield same.with_columns(distance=pl.lit(0, pl.Int32))
    empty = pl.DataFrame(schema=NEAREST if options.pairs_within is None else PAIRS)
    for found in chain([empty], _found(options, pool, queries, progress)):
        batch = found
        for side in sides:
            batch = _beside(batch, side, pool)
        yield batch


def _sided(rows: pl.DataFrame, side: str, pool: Pool) -> pl.DataFrame:
    """Return rows with columns named after a side, and the texts that are compared as key."""
    named = rows.rename(lambda name: f"{side}_{name}" if name else side)
    return named.with_columns(key=pool._keyed(named[side])["key"])  # noqa: SLF001 — same module


def _beside(found: pl.DataFrame, rows: pl.DataFrame, pool: Pool) -> pl.DataFrame:
    """Return matches with the columns of all rows that have the name of one side."""
    side, *others = rows.columns[:-1]
    if not others:
        return found
    keys = pool._keyed(found[side])["key"]  # noqa: SLF001 — same module
    joined = (
        found.drop(side).with_columns(key=keys).join(rows, on="key", maintain_order="left_right")
    )
    at = found.columns.index(side) + 1
    return joined.select(*found.columns[:at], *others, *found.columns[at:])


def _found(
    options: NearestOptions, pool: Pool, queries: pl.Series | None, progress: Progress
) -> Iterator[pl.DataFrame]:
    """Yield the matches of names in batches."""
    if options.pairs_within:
        with progress.stage(f"find the pairs of {len(pool):,} names"):
            yield pool.pairs(options.pairs_within, queries)
    if options.pairs_within is not None:  # 0 for duplicates alone
        return
    with progress.stage(f"search {len(pool):,} names") as stage:
        stage.total(len(pool if queries is None else queries))
        yield from pool.batches(
            queries,
            options.k or 1,
            max_distance=options.max_distance,
            ties=options.ties,
            advance=stage.advance,
        )


def write_rows(out: Path, batches: Iterator[pl.DataFrame], *, overwrite: bool) -> None:
    """Write batches of rows to a .parquet or .csv file, which appears complete or not at all.

    Raises:
        OptionError: the name of the file has another ending.
        OutputError: the file exists and must stay, or cannot be written.
    """
    if out.suffix.lower() not in NEAREST_SUFFIXES:
        raise OptionError(
            f"`out` takes a file whose name ends in {' or '.join(NEAREST_SUFFIXES)}, not {out}"
        )
    mirror(out, with_content=False)
    check_file_free(out, overwrite=overwrite)
    with new_file(out, overwrite=overwrite) as stream:
        every = chain([first := next(batches)], batches)
        if out.suffix.lower() == ".parquet":
            write_batches(stream, first.schema, every)
        else:
            for batch in every:
                batch.write_csv(stream, include_header=batch is first)
    push(out)
