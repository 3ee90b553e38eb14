-- The cells of the columns without a role, named other_…, in the rows of a delimited text.
--
-- reads   $stream: the text of the file, in UTF-8
-- writes  kept_row: a row per row of the text, key place, the number of the row from 1, counting
--         the header; kept has the cells in order
-- params  $stream text: where the text can be read once
--         $columns text: the names of the file's columns, with spaces between them
--         $separator text: separator of the values
--         $quote text: the quotation mark, or nothing
--         $header boolean: whether the first row has names

create or replace table kept_row as

select
    row_number() over () + $header::int as place,
    list_value(*columns('^other_')) as kept
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
);
