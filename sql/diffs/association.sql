-- The active associations that only one of two releases has.
--
-- reads   old_association, new_association, release_concept
-- writes  a row per association, key (source_id, target_id, kind); terms are null for concepts that
--         neither release has

with association as (
    select
        false as is_new,
        source_id,
        target_id,
        kind
    from old_association
    where active
    union all
    select
        true as is_new,
        source_id,
        target_id,
        kind
    from new_association
    where active
),

changed as (
    select
        source_id,
        target_id,
        kind,
        case when bool_and(is_new) then 'added' else 'removed' end as change
    from association
    group by
        source_id,
        target_id,
        kind
    having bool_and(is_new) = bool_or(is_new)
)

select
    a.change,
    a.kind,
    a.source_id,
    s.term as source_term,
    a.target_id,
    t.term as target_term,
    coalesce(s.kept and t.kept, false) as kept
from changed as a
left join release_concept as s on a.source_id = s.concept_id
left join release_concept as t on a.target_id = t.concept_id
order by
    a.change,
    a.source_id,
    a.target_id,
    a.kind;
