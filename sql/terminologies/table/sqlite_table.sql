-- The tables of an SQLite file, without views and virtual tables.
--
-- reads   the file, to which the connection is open
-- writes  a row per table: table_name

select name as table_name
from sqlite_schema
where
    type = 'table'
    and name not like 'sqlite_%'
    and sql not like 'create virtual %'
order by name;
