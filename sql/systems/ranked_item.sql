-- The rank of a right concept of each item in its ranked list, and what is first in the list.
--
-- A near miss is the concept at rank 1 if it is a parent, child or sibling of a right one, in this
-- order.
--
-- reads   item: item_id, query_id
--         answer: the ranked lists of queries: query_id, concept_id, concept_rank from 1, name and
--         score
--         gold: the right concepts of items: item_id, concept_id
--         is_a
-- writes  a row per item, key item_id; rank is null if no right concept is in the list

with correct as (
    select
        i.item_id,
        min(a.concept_rank) as concept_rank
    from item as i
    inner join gold as g on i.item_id = g.item_id
    inner join answer as a
        on
            i.query_id = a.query_id
            and g.concept_id = a.concept_id
    group by i.item_id
),

parents as (
    select
        child_id as concept_id,
        list(distinct parent_id) as every
    from is_a
    group by child_id
),

first_found as (
    select
        i.item_id,
        a.concept_id,
        a.name,
        a.score
    from item as i
    inner join answer as a
        on
            i.query_id = a.query_id
            and a.concept_rank = 1
),

near_miss as (
    select
        f.item_id,
        ['parent', 'child', 'sibling'][
            min(
                case
                    when list_contains(g_up.every, f.concept_id) then 1
                    when list_contains(f_up.every, g.concept_id) then 2
                    when list_has_any(g_up.every, f_up.every) then 3
                end
            )
        ] as relation
    from first_found as f
    inner join gold as g on f.item_id = g.item_id
    left join parents as g_up on g.concept_id = g_up.concept_id
    left join parents as f_up on f.concept_id = f_up.concept_id
    group by f.item_id
)

select
    i.item_id,
    cast(c.concept_rank as integer) as "rank",
    f.concept_id as nearest_concept,
    f.name as nearest_name,
    f.score,
    case when coalesce(c.concept_rank, 0) <> 1 then n.relation end as near_miss
from item as i
left join correct as c on i.item_id = c.item_id
left join first_found as f on i.item_id = f.item_id
left join near_miss as n on i.item_id = n.item_id
order by i.item_id;
