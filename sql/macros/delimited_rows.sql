-- The rows of a text whose values no quotes enclose and no escapes change, all of them text.
--
-- A row with more or fewer values than there are names is an error. The bound on lines is the
-- highest that a user may set; lower ones hold before the text comes here.
--
-- DuckDB takes columns as a structure, which is made here of their names. A value is never null:
-- no carriage return is left in the text.
--
-- writes  macro delimited_rows(source, separator, names): a row per line; the names of the columns
--         have a space between them

create or replace macro delimited_rows(source, separator, names) as table
    select * -- noqa: AM04
    from read_csv(
        source,
        auto_detect = false,
        header = false,
        delim = separator,
        quote = '',
        escape = '',
        nullstr = e'\r',
        new_line = '\n',
        max_line_size = 16777217,
        buffer_size = 33554434,
        columns = from_json_strict(
            '{"' || replace(names, ' ', '":"varchar","') || '":"varchar"}',
            '{"' || replace(names, ' ', '":"varchar","') || '":"varchar"}'
        )
    );
