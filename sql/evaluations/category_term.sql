-- The terms of the fully specified names of each category's own concepts.
--
-- Concepts below several categories are left out. Of terms that are equal when case is ignored,
-- only the smallest is kept.
--
-- reads   category_member, name, term
-- writes  a row per category and term, key (category, node_id); is_shared says that several
--         categories have the term when case is ignored
-- cites   Schulz and Juric 2020, section 5.3

with category_name as (
    select
        m.category,
        n.node_id,
        min(n.term_id) as term_id
    from category_member as m
    inner join name as n on m.concept_id = n.concept_id
    where
        n.is_fsn
        and not m.is_shared
    group by all
)

select
    o.category,
    o.node_id,
    t.term,
    count(*) over (partition by o.node_id) > 1 as is_shared
from category_name as o
inner join term as t on o.term_id = t.term_id
order by all;
