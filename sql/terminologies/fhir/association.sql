-- Associations, from the properties synonym (another code of the concept) and replaced-by.
--
-- reads   fhir_property
-- writes  association: key (source_id, target_id, kind)

create or replace table association as

select distinct
    concept_id as source_id,
    value as target_id,
    if(meaning = 'synonym', 'same_as', 'replaced_by') as kind,
    true as active
from fhir_property
where meaning in ('synonym', 'replacedby')
order by
    source_id,
    target_id,
    kind;
