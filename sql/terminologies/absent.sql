-- The number of rows of the canonical tables whose concept is not in the terminology, by reason.
--
-- reads   concept, description, association, is_a, semantic_type
-- writes  a row per reason, key reason; reasons that never apply have 0 rows

select
    'association is of an absent concept' as reason,
    count(*) as n_rows
from association as a
left join concept as s on a.source_id = s.concept_id
left join concept as t on a.target_id = t.concept_id
where
    s.concept_id is null
    or t.concept_id is null
union all
select
    'description is of an absent concept' as reason,
    count(*) as n_rows
from description as d
anti join concept as c on d.concept_id = c.concept_id
union all
select
    'is-a relationship is of an absent concept' as reason,
    count(*) as n_rows
from is_a as i
left join concept as c on i.child_id = c.concept_id
left join concept as p on i.parent_id = p.concept_id
where
    c.concept_id is null
    or p.concept_id is null
union all
select
    'semantic type is of an absent concept' as reason,
    count(*) as n_rows
from semantic_type as t
anti join concept as c on t.concept_id = c.concept_id
order by reason;
