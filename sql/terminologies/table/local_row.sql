-- How often the concepts of a table occur, and what else its columns say of them.
--
-- reads   given, kept_row, kept_column
-- writes  local_row: a row per concept, key concept_id; frequency is the sum over its rows, null if
--         none has one; kept has the distinct values of its rows in each column without a role,
--         with semicolons between them, as a JSON object; of more than 20 values the first, and …

create or replace table local_row as

with kept_cell as (
    select
        place,
        generate_subscripts(kept, 1) as number,
        nullif(replace(table_cell(unnest(kept), null), chr(31), '; '), '') as value
    from kept_row
),

distinct_value as (
    select
        g.concept as concept_id,
        c.number,
        c.value,
        min(g.place) as place
    from given as g
    inner join kept_cell as c on g.place = c.place
    where g.concept <> ''
    group by
        g.concept,
        c.number,
        c.value
),

kept_text as (
    select
        concept_id,
        number,
        list(value order by place) filter (value is not null) as texts
    from distinct_value
    group by
        concept_id,
        number
),

kept as (
    select
        t.concept_id,
        map(
            list(c.name order by t.number),
            list(
                array_to_string(t.texts[:20], '; ') || if(len(t.texts) > 20, '; …', '')
                order by t.number
            )
        ) as texts
    from kept_text as t
    inner join kept_column as c on t.number = c.rowid + 1
    group by t.concept_id
),

own as (
    select
        concept as concept_id,
        try_cast(sum(table_count(frequency)) as bigint) as frequency
    from given
    where concept <> ''
    group by concept
)

select
    o.concept_id,
    o.frequency,
    coalesce(to_json(k.texts)::varchar, '{}') as kept
from own as o
left join kept as k on o.concept_id = k.concept_id
order by o.concept_id;
