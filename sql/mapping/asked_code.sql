-- The codes that people are asked about, with what a page shows of them.
--
-- reads   local, candidate, open_decision
-- writes  table asked_code: a row per code without a decision that holds, key place, from 0 by
--         descending frequency; names is null if there is only one, kept and earlier if there is
--         nothing; difference is that of the first candidate

create or replace table asked_code as

with said as (
    select
        code,
        string_agg(
            concat(
                concat_ws(' ', if(reviewer = '', 'unknown reviewer', reviewer), nullif(date, '')),
                ': ',
                concat_ws(
                    ' ',
                    replace(decision, '_', ' '),
                    concept_id,
                    concept_name,
                    if(why <> 'conflict', concat('(', replace(why, '_', ' '), ')'), null)
                )
            ),
            '; ' order by reviewer asc, concept_id asc
        ) as earlier
    from open_decision
    group by code
),

kept_text as (
    select
        code,
        array_to_string(
            list_transform(
                list_filter(
                    map_entries(kept::json::map (varchar, varchar)), lambda x: x['value'] <> ''
                ),
                lambda x: concat(x['key'], ': ', x['value'])
            ),
            '; '
        ) as kept
    from local
)

select
    l.code,
    l.name,
    l.frequency,
    l.category,
    l.status,
    l.probability,
    c.difference,
    nullif(l.names, l.name) as names,
    k.kept,
    s.earlier,
    row_number() over (order by l.frequency desc nulls last, l.code asc) - 1 as place
from local as l
inner join kept_text as k on l.code = k.code
left join candidate as c on l.code = c.code and c.rank = 1
left join said as s on l.code = s.code
where l.status in ('undecided', 'accepted', 'conflict', 'changed')
order by place;
