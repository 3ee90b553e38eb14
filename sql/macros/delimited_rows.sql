-- The rows of a delimited text without quotes and escapes; all values are text.
--
-- A row with more or fewer values than there are names is an error. The limit on the length of
-- lines is the highest that a user may set; lower limits are checked before.
--
-- DuckDB takes columns as a structure, which is made from their names. A value is never null,
-- because the text has no carriage returns.
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
