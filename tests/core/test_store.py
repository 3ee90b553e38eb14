"""The DuckDB store: queries from files, frames in and out, and limits of users' statements."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import polars as pl
import pytest
from fixtures.disks import disk_that_is_full_after

from medsim.core import queries
from medsim.core.errors import OutputError, StatementError
from medsim.core.kinds import Column, Table
from medsim.core.store import QueryError, Store
from medsim.core.table_formats import TABLE_FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

FRAME = pl.DataFrame({"x": [3, 1, 2], "text": ["c", None, "\u00e9\x00"]})


@pytest.fixture
def own_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield an empty folder that replaces medsim's SQL files."""
    with monkeypatch.context() as patch:
        patch.setattr(queries, "sql_folder", lambda: tmp_path)
        (tmp_path / "macros").mkdir()
        queries.query.cache_clear()
        yield tmp_path
    queries.query.cache_clear()


# Queries and frames


def test_frames_round_trip(store: Store) -> None:
    store.put("some table", FRAME)
    assert store.table("some table").equals(FRAME)
    store.put("some table", FRAME.head(1))  # replaces the earlier one
    assert store.table("some table").equals(FRAME.head(1))
    store.put("empty", FRAME.clear())
    assert store.table("empty").equals(FRAME.clear())
    store.put('odd"; drop table x; --', FRAME)
    store.drop('odd"; drop table x; --', "some table", "empty", "never there")
    assert store.select("show tables").is_empty()


def test_rows_at_rest_are_on_disk_until_they_are_read(tmp_path: Path) -> None:
    numbers = pl.DataFrame({"number": np.random.default_rng(1).integers(0, 1 << 62, 20_000_000)})
    used = "select sum(memory_usage_bytes) >> 20 from duckdb_memory()"
    with Store(threads=1, spill=tmp_path, memory=300 << 20) as store:
        store.put("numbers", numbers)
        assert store.select(used).item() > 100
        store.rest()
        assert store.select(used).item() <= 64
        assert store.table("numbers").equals(numbers)
    with Store(threads=1) as store:  # where nothing spills, nothing rests
        store.put("numbers", numbers.head(10))
        store.rest()
        assert store.n_rows("numbers") == 10


def test_rows_stay_in_memory_if_the_disk_is_full(tmp_path: Path) -> None:
    numbers = pl.DataFrame({"number": np.random.default_rng(1).integers(0, 1 << 62, 20_000_000)})
    with (
        disk_that_is_full_after(32 << 20),
        Store(threads=1, spill=tmp_path, memory=300 << 20) as store,
    ):
        store.put("numbers", numbers)
        store.rest()
        assert store.table("numbers").equals(numbers)


def test_a_table_that_does_not_fit_is_named() -> None:
    wide = pl.DataFrame({"number": range(1_000_000)})
    with Store(threads=1, memory=1 << 20) as store:
        with pytest.raises(OutputError, match="the table wide needs more memory or disk"):
            store.put("wide", wide)
        store.put("narrow", wide.head(10))
        assert store.n_rows("narrow") == 10


def test_full_disk_is_one_line(tmp_path: Path) -> None:
    numbers = pl.DataFrame({"number": range(1_000_000)})
    with (
        Store(threads=1, memory=1 << 20, spill=tmp_path) as store,
        disk_that_is_full_after(10_000),
        pytest.raises(OutputError, match=r"^the table wide needs more disk than available$"),
    ):
        store.put("wide", numbers)


def test_interrupt_while_duckdb_reads_a_frame_is_an_interrupt(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    # DuckDB turns any error raised here into its own error.
    with monkeypatch.context() as patch:
        patch.setattr(pl.DataFrame, "to_arrow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.put("base", FRAME)

    store.put("base", FRAME)
    assert store.table("base").equals(FRAME)


def test_query_writes_a_table_or_returns_rows(own_queries: Path) -> None:
    (own_queries / "double.sql").write_text(
        "create or replace table double as select $by::int * x as y from base order by x"
    )
    (own_queries / "rows.sql").write_text("select y from double where y > $least order by y")
    with Store(threads=1) as store:
        store.put("base", FRAME)
        store.run("double", by=10)
        assert store.table("double")["y"].to_list() == [10, 20, 30]
        assert store.frame("rows", least=10)["y"].to_list() == [20, 30]


@pytest.mark.parametrize(
    "sql",
    ["selec 1", "select x from nowhere", "select $x", "select cast('File too large' as integer)"],
)
def test_a_query_that_fails_is_named(own_queries: Path, sql: str) -> None:
    (own_queries / "broken.sql").write_text(sql)
    with Store(threads=1) as store:
        for run in (store.run, store.frame):
            with pytest.raises(QueryError, match=r"^sql/broken\.sql: .+$") as caught:
                run("broken")
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize("fails", [True, False])
def test_failed_or_unread_stream_does_not_hang(store: Store, *, fails: bool) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(2_000):  # far more than a pipe holds
            yield b"no row at all\n" * 100
            if fails:
                raise OSError("the disk is gone")

    # The error of the stream takes precedence over the error that it caused in DuckDB.
    with pytest.raises(
        OSError if fails else QueryError, match="the disk is gone" if fails else "rf2_concept.sql"
    ):
        store.run_on_stream("terminologies/rf2/rf2_concept", chunks())


def test_an_interrupt_before_the_pump_runs_leaves_no_pipe_open(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_thread: threading.Thread) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    before = set(Path("/dev/fd").iterdir())

    with pytest.raises(KeyboardInterrupt):
        store.run_on_stream("rf2/rf2_concept", [])

    assert set(Path("/dev/fd").iterdir()) == before


def test_a_database_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "it's=[1].duckdb"

    with (
        Store(threads=1) as store,
        pytest.raises(OutputError, match="cannot write"),
        store.attached(path),
    ):
        pytest.fail("there is nothing to write to")
    path.parent.mkdir()
    with Store(threads=1) as store:
        store.put("a table's", FRAME)
        view = Table("", "Rows' own.", {"x": Column(pl.Int64, 'One\'s "number".')})
        with store.attached(path) as append:
            assert append("a table's", view, {}) == FRAME.height
    with duckdb.connect(str(path), read_only=True) as database:
        assert database.table('"a table\'s"').pl().equals(FRAME)
        comments = "select comment from duckdb_columns() where not internal order by column_name"
        assert database.sql(comments).fetchall() == [(None,), ('One\'s "number".',)]


# Limits of a user's statement


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder ``out``, a folder whose name begins alike, and a secret file next to them."""
    folder = tmp_path_factory.mktemp("place")
    for name in ("out", "out2"):
        pairs = folder / name / "pairs" / "dataset=d1"
        pairs.mkdir(parents=True)
        FRAME.write_parquet(pairs / "data.parquet")
    (folder / "secret.csv").write_text("secret\n1\n")
    (folder / "out" / "link.csv").symlink_to(folder / "secret.csv")
    return folder


@pytest.fixture(scope="module")
def locked(place: Path) -> Iterator[Store]:
    """Yield a locked store with the table t, which no test changes."""
    with Store(threads=2) as store:
        store.put("t", FRAME)
        store.view_files(place / "out", {"pair": "pairs/dataset=*/data.parquet"})
        store.lock_down(place / "out")
        yield store


@pytest.fixture(scope="module")
def bounded() -> Iterator[Store]:
    """Yield a locked store with a low memory limit that no statement can raise."""
    with Store(threads=1, memory=100_000_000) as store:
        store.lock_down(Path("/nowhere"))
        yield store


@pytest.mark.parametrize(
    "statement",
    [
        "select * from pair",
        "from pair select *",
        "with a as (select * from pair) select * from a",
        "select * from pair; ",
        "-- a comment\nselect * from pair -- another",
        "select * from pair union all select * from pair where false",
    ],
)
def test_one_select_is_run(locked: Store, statement: str) -> None:
    rows = locked.select(statement).sort("x").rows()
    assert rows == [(1, None, "d1"), (2, "\u00e9\x00", "d1"), (3, "c", "d1")]


def test_read_only_statements_are_run(locked: Store) -> None:
    for statement in ("show tables", "describe pair", "summarize pair", "table t"):
        assert locked.select(statement).height > 0


@pytest.mark.parametrize(
    "statement",
    [
        "select * from '{folder}/secret.csv'",
        "select * from read_text('{folder}/out/../secret.csv')",
        "select * from read_text('{folder}/out/link.csv')",
        "select * from read_parquet('{folder}/out2/pairs/dataset=d1/data.parquet')",
        "select * from read_parquet('{folder}/*/pairs/*/*.parquet')",
        "select * from read_blob('/proc/self/environ')",
        "select * from glob('{folder}/*')",
        "select * from parquet_metadata('{folder}/out2/pairs/dataset=d1/data.parquet')",
        "select * from read_csv('https://example.org/x.csv')",
        "select * from query('select * from read_text(''{folder}/secret.csv'')')",
    ],
)
def test_no_file_outside_the_folder_is_read(locked: Store, place: Path, statement: str) -> None:
    with pytest.raises(StatementError, match=r"^(Permission|IO|Invalid Input|Binder) Error: .+$"):
        locked.select(statement.format(folder=place))


@pytest.mark.parametrize(
    "statement",
    [
        *("copy t to '{folder}/out/stolen.csv'", "export database '{folder}/out/all'"),
        *("create table u (x int)", "create temp table u as select 1", "drop view pair"),
        *("insert into t values (9, 'x')", "update t set x = 0", "attach ':memory:' as other"),
        *("install httpfs", "load httpfs", "set threads = 1", "pragma database_list"),
        *("call pragma_version()", "begin", "vacuum", "prepare p as select 1"),
        *("explain analyze delete from t", "select 1; select 2", "", "-- nothing"),
    ],
)
def test_only_one_select_is_accepted(locked: Store, place: Path, statement: str) -> None:
    with pytest.raises(StatementError) as caught:
        locked.select(statement.format(folder=place))
    assert "\n" not in str(caught.value)
    assert locked.select("from t select count(*), sum(x)").row(0) == (3, 6)
    assert sorted(path.name for path in place.iterdir()) == ["out", "out2", "secret.csv"]
    assert sorted(path.name for path in (place / "out").iterdir()) == ["link.csv", "pairs"]


def test_a_select_cannot_change_data_on_the_side(locked: Store) -> None:
    for statement in (
        "with a as (insert into t values (9, 'x') returning x) select * from a",
        "with a as (delete from t returning x) select * from a",
        "select * from query('delete from t')",
        "select * from query('select 1; drop table t')",
    ):
        with pytest.raises(StatementError):
            locked.select(statement)
        assert locked.select("from t select count(*), sum(x)").row(0) == (3, 6)


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("select nothing from t", ""),
        ("select * from locked", ""),  # a Python variable, not a table
        ("select error(E'first\nsecond')", ""),
        ("select $name", ""),
        ("select (select x from t)", ""),
        ("select lowr('A')", 'does not exist! Did you mean "lower"?'),
        ("select naer from (select 1 as near)", 'FROM clause! Candidate bindings: "near"'),
        ("selct 1", 'syntax error at or near "selct"'),
    ],
)
def test_errors_of_a_statement_are_one_line_with_suggestions(
    locked: Store, statement: str, hint: str
) -> None:
    with pytest.raises(StatementError, match=r"^.+$") as caught:
        locked.select(statement)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(hint)
    assert locked.select("select 1 as one").row(0) == (1,)  # the next one runs


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("interval 1 month", "1 month"),
        ("[interval 1 month]", "[1 month]"),
        ("union_value(k := 1)", "1"),
        ("1::variant", "1"),
        ("'101'::bit", "101"),
        ("'a'::enum('a', 'b')", "a"),
        ("timetz '10:00:00+05'", "10:00:00+05"),
        (
            "340282366920938463463374607431768211455::uhugeint",
            "3402823669209384634633746074317682114",
        ),
        ("map {1: union_value(k := date 'infinity')}", "{1=infinity}"),
        ("uuid '47183823-2574-4bfd-b411-99ed177d3e43'", "47183823-2574-4bfd-b411-99ed177d3e43"),
    ],
)
def test_types_unknown_to_polars_become_text(locked: Store, value: str, text: str) -> None:
    assert locked.select(f"select {value} as x")["x"][0].startswith(text)


@pytest.mark.parametrize("form", sorted(TABLE_FORMATS))
def test_every_type_of_duckdb_is_printed_in_every_format(locked: Store, form: str) -> None:
    days = (
        *("'infinity'::date", "'-infinity'::timestamp", "date '0044-03-15 (BC)'"),
        *("timestamp '290309-12-22 (BC) 00:00:00'", "'infinity'::timestamptz", "time '24:00:00'"),
    )
    far = ", ".join(f"{value} as day{number}" for number, value in enumerate(days))
    statement = "select *, [date 'infinity'] as days, FAR from test_all_types()"
    with locked.batches(statement.replace("FAR", far)) as reader:
        frame = pl.from_arrow(reader.read_all())

    assert isinstance(frame, pl.DataFrame)
    result = TABLE_FORMATS[form].render(frame)
    for text in ("infinity", "0044-03-15 (BC)", "290309-12-22 (BC) 00:00:00", "24:00:00"):
        assert text in result


def test_no_statement_lifts_its_limits(bounded: Store) -> None:
    for statement in (
        "set memory_limit = '1TB'",
        "set global max_memory = '1TB'",
        "reset memory_limit",
        "pragma memory_limit = '1TB'",
        "set temp_directory = '/tmp'",
        "set max_expression_depth = 1000000",
        "select * from query('set threads = 64')",
        "select set_config('memory_limit', '1TB')",
        "call set_config('memory_limit', '1TB')",
        "execute p",
        "from pragma_memory_limit('1TB')",
    ):
        with pytest.raises(StatementError):
            bounded.select(statement)
        limit = bounded.select("select current_setting('memory_limit') as x").item()
        assert limit == "95.3 MiB", statement
    with pytest.raises(StatementError, match="the statement needs more than its `memory`"):
        bounded.select("select list(range) from range(1000000000)")


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("[", "]"), ("not ", "")])
def test_a_statement_that_is_too_deep_is_refused(locked: Store, opening: str, closing: str) -> None:
    with pytest.raises(StatementError, match=r"Max expression depth limit of \d+ exceeded\.$"):
        locked.select(f"select {opening * 3_000}true{closing * 3_000}")


def test_duplicate_column_names_become_unique(locked: Store) -> None:
    result = locked.select("select 1 as a, 2 as A, 3 as a, 4 as a_1, interval 1 day as a")
    assert result.columns == ["a", "A_1", "a_2", "a_1_1", "a_3"]
    assert result.row(0) == (1, 2, 3, 4, "1 day")
