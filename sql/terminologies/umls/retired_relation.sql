-- The concepts that others were merged to, added to the relations of concepts.
--
-- reads   archived_atom, umls_atom, umls_relation
-- writes  umls_relation: more rows, key (source_id, target_id, kind)

insert into umls_relation

select
    a.concept_id as source_id,
    a.merged_to as target_id,
    'replaced_by' as kind,
    true as active,
    count(*) as n_rows
from archived_atom as a
anti join umls_relation as r
    on
        a.concept_id = r.source_id
        and a.merged_to = r.target_id
        and r.kind = 'replaced_by'
anti join umls_atom as own
    on
        a.concept_id = own.concept_id
        and own.suppressed = 'N'
where
    a.merged_to <> ''
    and a.merged_to <> a.concept_id
group by
    a.concept_id,
    a.merged_to;
