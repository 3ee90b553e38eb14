-- Concepts and their broader concepts.
--
-- reads   omop_relation, omop_ancestor, omop_kept
-- writes  is_a: a row per child and parent, key (child_id, parent_id)

create or replace table is_a as

with parent as (
    select
        source_id as child_id,
        target_id as parent_id
    from omop_relation
    where
        active
        and kind = 'is_a'
    union all
    select
        child_id,
        parent_id
    from omop_ancestor
)

select distinct
    p.child_id::varchar as child_id,
    p.parent_id::varchar as parent_id
from parent as p
semi join omop_kept as c on p.child_id = c.concept_id
semi join omop_kept as o on p.parent_id = o.concept_id
order by all;
