-- Concepts with their domain, such as Condition or Drug, as the tag.
--
-- reads   omop_kept
-- writes  concept: a row per concept, key concept_id

create or replace table concept as

select
    concept_id::varchar as concept_id,
    active,
    '' as module_id,
    domain as semantic_tag
from omop_kept
order by concept_id::varchar;
