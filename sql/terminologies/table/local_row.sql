-- How often the concepts of a table occur, and what else its columns say of them.
--
-- reads   given, kept_row, kept_column
-- writes  local_row: a row per concept, key concept_id; frequency is the sum over its rows, null if
--         none has one; kept has the columns without a role of its first row, as a JSON object

create or replace table local_row as

with own as (
    select
        concept as concept_id,
        min(place) as place,
        try_cast(sum(table_count(frequency)) as bigint) as frequency
    from given
    where concept <> ''
    group by concept
),

kept_cell as (
    select
        place,
        list_transform(kept, lambda cell: replace(table_cell(cell, null), chr(31), '; ')) as cells
    from kept_row
),

kept_name as (
    select list(name order by rowid) as names
    from kept_column
)

select
    o.concept_id,
    o.frequency,
    coalesce(to_json(map(n.names, c.cells))::varchar, '{}') as kept
from own as o
left join kept_cell as c on o.place = c.place
cross join kept_name as n
order by o.concept_id;
