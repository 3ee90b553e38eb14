-- Concepts; those that are inactive, retired, deprecated or withdrawn are not active.
--
-- Older tables of HL7 v2 abbreviate the status to R or D.
--
-- reads   fhir_concept, fhir_property
-- writes  concept: key concept_id

create or replace table concept as

with retired as (
    select distinct concept_id
    from fhir_property
    where
        (
            meaning in ('status', 'structuredefinitionstandardsstatus')
            and lower(value) in ('d', 'deprecated', 'inactive', 'r', 'retired', 'withdrawn')
        )
        or (meaning in ('inactive', 'deprecated') and lower(value) <> 'false')
)

select distinct
    c.concept_id,
    r.concept_id is null as active,
    '' as module_id,
    '' as semantic_tag
from fhir_concept as c
left join retired as r on c.concept_id = r.concept_id
where c.concept_id is not null
order by c.concept_id;
