-- The active associations that only one of two releases has.
--
-- reads   old_association, new_association, release_concept
-- writes  a row per association, key (source_id, target_id, kind); terms are null for concepts that
--         neither release has

with changed as (
    select distinct
        'added' as change,
        n.source_id,
        n.target_id,
        n.kind
    from new_association as n
    anti join old_association as o
        on
            o.active
            and n.source_id = o.source_id
            and n.target_id = o.target_id
            and n.kind = o.kind
    where n.active
    union all
    select distinct
        'removed' as change,
        o.source_id,
        o.target_id,
        o.kind
    from old_association as o
    anti join new_association as n
        on
            n.active
            and o.source_id = n.source_id
            and o.target_id = n.target_id
            and o.kind = n.kind
    where o.active
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
