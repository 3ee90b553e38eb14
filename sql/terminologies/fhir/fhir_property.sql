-- The properties and extensions of concepts that medsim reads.
--
-- The meaning of a property is the end of its declared address, such as parent in
-- http://hl7.org/fhir/concept-properties#parent, or else of its code.
--
-- reads   fhir_code_system, fhir_concept
-- writes  fhir_property: a row per value; meaning in lower case, without hyphens

create or replace table fhir_property as

with declared as (
    select unnest(json_extract(system, '$.property[*]')) as declaration
    from fhir_code_system
),

valued as (
    select
        concept_id,
        unnest(
            list_concat(
                json_extract(node, '$.property[*]'), json_extract(node, '$.extension[*]')
            )
        ) as item
    from fhir_concept
)

select
    v.concept_id,
    lower(
        regexp_replace(
            regexp_extract(
                coalesce(
                    v.item ->> '$.url', d.declaration ->> '$.uri', v.item ->> '$.code'
                ),
                '[^#/]*$'
            ),
            '^codesystem-|[-_]',
            '',
            'g'
        )
    ) as meaning,
    coalesce(
        v.item ->> '$.valueCode',
        v.item ->> '$.valueString',
        v.item ->> '$.valueBoolean',
        v.item ->> '$.valueDateTime',
        v.item ->> '$.valueCoding.code'
    ) as value
from valued as v
left join declared as d on (v.item ->> '$.code') = (d.declaration ->> '$.code')
where
    v.concept_id is not null
    and value is not null;
