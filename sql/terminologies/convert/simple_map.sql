-- The identifiers that concepts had in their source, as a simple map of RF2.
--
-- reads   concept_sctid
-- writes  a row per concept with a new identifier, key id
-- params  $effective_time text: effective time of all rows, as YYYYMMDD

select
    md5(concat_ws(' ', 'map', concept_id))::uuid::varchar as id,
    $effective_time as "effectiveTime",
    true as active,
    sctid('core_module') as "moduleId",
    sctid('simple_map') as "refsetId",
    sctid as "referencedComponentId",
    concept_id as "mapTarget"
from concept_sctid
where sctid <> concept_id
order by id;
