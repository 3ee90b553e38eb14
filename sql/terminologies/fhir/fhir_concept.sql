-- The concepts of a code system in FHIR, at any depth.
--
-- reads   fhir_code_system: one row with the resource in JSON
-- writes  fhir_concept: a row per place of a concept; parent_id is null at the top, and concept_id
--         where a concept has no code

create or replace table fhir_concept as

with recursive nested as (
    select
        unnest(json_extract(system, '$.concept[*]')) as node,
        null::varchar as parent_id
    from fhir_code_system
    union all
    select
        unnest(json_extract(node, '$.concept[*]')) as node,
        node ->> '$.code' as parent_id
    from nested
)

select
    node ->> '$.code' as concept_id,
    parent_id,
    node
from nested;
