-- The rows of a delimited text; columns that it lacks are null.
--
-- reads   $stream: the text of the file, in UTF-8
--         no_row: the columns without rows
-- writes  given: a row per row of the text, key place, the number of the row from 1,
--         counting the header
-- params  $stream text: where the text can be read once
--         $columns text: the names of the file's columns, with spaces between them
--         $separator text: separator of the values
--         $quote text: the quotation mark, or nothing
--         $header boolean: whether the first row has names

create or replace table given as

with stated as (
    select *
    from no_row
    union all by name
    select * -- noqa: AM04
    from read_csv(
        $stream,
        auto_detect = false,
        header = $header,
        delim = $separator,
        quote = $quote,
        escape = $quote,
        strict_mode = true,
        max_line_size = 16777217,
        buffer_size = 33554434,
        columns = from_json_strict(
            '{"' || replace($columns, ' ', '":"varchar","') || '":"varchar"}',
            '{"' || replace($columns, ' ', '":"varchar","') || '":"varchar"}'
        )
    )
)

select
    row_number() over () + $header::int as place,
    trimmed(concept) as concept,
    term,
    synonyms,
    kind,
    language,
    active,
    obsolete,
    replaced_by,
    parent,
    category
from stated;
