-- The is-a relationships that only one of two releases has.
--
-- reads   old_is_a, new_is_a, release_concept
-- writes  a row per relationship, key (child_id, parent_id); terms are null for concepts that
--         neither release has

with is_a as (
    select
        false as is_new,
        child_id,
        parent_id
    from old_is_a
    union all
    select
        true as is_new,
        child_id,
        parent_id
    from new_is_a
),

changed as (
    select
        child_id,
        parent_id,
        case when bool_and(is_new) then 'added' else 'removed' end as change
    from is_a
    group by
        child_id,
        parent_id
    having bool_and(is_new) = bool_or(is_new)
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
