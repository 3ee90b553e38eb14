-- The tables of a DuckDB file, without views.
--
-- reads   the file, to which the connection is open
-- writes  a row per table: table_name

select table_name
from duckdb_tables()
where not internal
order by table_name;
