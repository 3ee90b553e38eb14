-- Is-a relationships, from nested concepts and from the properties parent and child.
--
-- reads   fhir_code_system, fhir_concept, fhir_property
-- writes  is_a: key (child_id, parent_id)

create or replace table is_a as

select
    c.concept_id as child_id,
    c.parent_id
from fhir_concept as c
cross join fhir_code_system as s
where
    c.concept_id is not null
    and c.parent_id is not null
    and coalesce(s.system ->> '$.hierarchyMeaning', 'is-a') not in ('grouped-by', 'part-of')
union
select
    if(meaning = 'parent', concept_id, value) as child_id,
    if(meaning = 'parent', value, concept_id) as parent_id
from fhir_property
where meaning in ('parent', 'child')
order by
    child_id,
    parent_id;
