-- Is-a relationships as RF2 rows, without ids.
--
-- reads   is_a, concept_sctid
-- writes  a row per relationship, key (sourceId, destinationId)
-- params  $effective_time text: effective time of all rows, as YYYYMMDD

select
    $effective_time as "effectiveTime",
    true as active,
    sctid('core_module') as "moduleId",
    c.sctid as "sourceId",
    p.sctid as "destinationId",
    '0' as "relationshipGroup",
    sctid('is_a') as "typeId",
    sctid('inferred') as "characteristicTypeId",
    sctid('existential') as "modifierId"
from is_a as i
inner join concept_sctid as c on i.child_id = c.concept_id
inner join concept_sctid as p on i.parent_id = p.concept_id
order by
    "sourceId",
    "destinationId";
