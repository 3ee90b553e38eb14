-- The is-a relationships that only one of two releases has.
--
-- reads   old_is_a, new_is_a, release_concept
-- writes  a row per relationship, key (child_id, parent_id); terms are null for concepts that
--         neither release has

with changed as (
    select distinct
        'added' as change,
        n.child_id,
        n.parent_id
    from new_is_a as n
    anti join old_is_a as o on n.child_id = o.child_id and n.parent_id = o.parent_id
    union all
    select distinct
        'removed' as change,
        o.child_id,
        o.parent_id
    from old_is_a as o
    anti join new_is_a as n on o.child_id = n.child_id and o.parent_id = n.parent_id
)

select
    i.change,
    i.child_id,
    c.term as child_term,
    i.parent_id,
    p.term as parent_term,
    coalesce(c.kept and p.kept, false) as kept
from changed as i
left join release_concept as c on i.child_id = c.concept_id
left join release_concept as p on i.parent_id = p.concept_id
order by
    i.change,
    i.child_id,
    i.parent_id;
