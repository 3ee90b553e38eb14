-- The relations of concepts, including those of retired concepts to the concepts they were merged
-- into.
--
-- reads   umls_relation, archived_atom, umls_atom
-- writes  umls_relation: a row per concept, related concept and kind, key (source_id, target_id,
--         kind)

create or replace table umls_relation as

with merged as (
    select
        a.concept_id as source_id,
        a.merged_to as target_id,
        count(*) as n_rows
    from archived_atom as a
    anti join umls_relation as r
        on
            a.concept_id = r.source_id
            and a.merged_to = r.target_id
            and r.kind = 'replaced_by'
    anti join umls_atom as u
        on
            a.concept_id = u.concept_id
            and u.suppressed = 'N'
    where
        a.merged_to <> ''
        and a.merged_to <> a.concept_id
    group by
        a.concept_id,
        a.merged_to
)

select
    source_id,
    target_id,
    kind,
    active,
    n_rows
from umls_relation
union all
select
    source_id,
    target_id,
    'replaced_by' as kind,
    true as active,
    n_rows
from merged;
