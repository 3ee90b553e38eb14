-- Concepts, with the retired concepts that have no names.
--
-- reads   concept, umls_retired
-- writes  concept: a row per concept, key concept_id

create or replace table concept as

select
    concept_id,
    active,
    module_id,
    semantic_tag
from concept
union all
select distinct
    r.source_id as concept_id,
    false as active,
    '' as module_id,
    '' as semantic_tag
from umls_retired as r
anti join concept as c on r.source_id = c.concept_id
order by concept_id;
