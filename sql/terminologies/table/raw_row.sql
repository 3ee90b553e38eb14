-- The rows of a delimited text; columns that it lacks are null, and so is a second row with the
-- strings of a template of ROBOT.
--
-- reads   $stream: the text of the file, in UTF-8
--         no_row: the columns without rows
-- writes  raw_row: a row per row of the text, key place, the number of the row from 1,
--         counting the header
-- params  $stream text: where the text can be read once
--         $columns text: the names of the file's columns, with spaces between them
--         $separator text: separator of the values
--         $quote text: the quotation mark, or nothing
--         $header boolean: whether the first row has names

create or replace table raw_row as

with cell as (
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
),

numbered as (
    select
        *,
        row_number() over () + $header::int as place
    from cell
),

stated as (
    select
        *,
        place <> 2
        or trimmed(concept) <> 'ID'
        or not regexp_matches(coalesce(term, synonyms), '^(A[AILT]? |LABEL)') as is_row
    from numbered
)

select
    place,
    case when is_row then trimmed(concept) end as concept,
    case when is_row then term end as term,
    case when is_row then synonyms end as synonyms,
    case when is_row then kind end as kind,
    case when is_row then language end as language,
    case when is_row then active end as active,
    case when is_row then status end as status,
    case when is_row then obsolete end as obsolete,
    case when is_row then replaced_by end as replaced_by,
    case when is_row then parent end as parent,
    case when is_row then category end as category,
    case when is_row then frequency end as frequency
from stated;
