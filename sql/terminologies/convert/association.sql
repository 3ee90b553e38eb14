-- Associations as members of RF2 reference sets; the id of a member is a hash of its content.
--
-- RF2 has no reference set for synonymous concepts, so these associations are left out.
--
-- reads   association, concept_sctid
-- writes  a row per association, key id
-- params  $effective_time text: effective time of all rows, as YYYYMMDD

select
    md5(concat_ws(' ', 'association', a.source_id, a.target_id, a.kind))::uuid::varchar as id,
    $effective_time as "effectiveTime",
    a.active,
    sctid('core_module') as "moduleId",
    coalesce(sctid(a.kind), a.kind) as "refsetId",
    s.sctid as "referencedComponentId",
    t.sctid as "targetComponentId"
from association as a
inner join concept_sctid as s on a.source_id = s.concept_id
inner join concept_sctid as t on a.target_id = t.concept_id
where a.kind <> 'synonymous'
order by id;
