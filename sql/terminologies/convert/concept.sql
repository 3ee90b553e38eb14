-- Concepts as RF2 rows.
--
-- reads   concept, concept_sctid: concept_id, sctid
-- writes  a row per concept, key id
-- params  $effective_time text: effective time of all rows, as YYYYMMDD

select
    i.sctid as id,
    $effective_time as "effectiveTime",
    c.active,
    coalesce(nullif(c.module_id, ''), sctid('core_module')) as "moduleId",
    sctid('primitive') as "definitionStatusId"
from concept as c
inner join concept_sctid as i on c.concept_id = i.concept_id
order by id;
