-- Mappings of FHIR's concept maps, by their relationship (R5) or equivalence (R4).
--
-- reads   concept_map: one row with a ConceptMap, or a Bundle of them, in JSON
-- writes  mapping: a row per mapping with its relation; kind is null where it is not an equivalence

create or replace table mapping as

with resource as (
    select
        unnest(
            list_prepend(content::json, json_extract(content, '$.entry[*].resource'))
        ) as resource
    from concept_map
),

grouped as (
    select unnest(json_extract(resource, '$.group[*]')) as part
    from resource
    where (resource ->> '$.resourceType') = 'ConceptMap'
),

mapped_element as (
    select
        part,
        unnest(json_extract(part, '$.element[*]')) as element
    from grouped
),

targeted as (
    select
        part,
        element,
        unnest(json_extract(element, '$.target[*]')) as target
    from mapped_element
)

select
    split_part(part ->> '$.source', '|', 1) as subject_vocabulary,
    element ->> '$.code' as subject_code,
    split_part(part ->> '$.target', '|', 1) as object_vocabulary,
    target ->> '$.code' as object_code,
    coalesce(target ->> '$.relationship', target ->> '$.equivalence', 'none') as relation,
    case relation
        when 'equal' then 'same_as'
        when 'equivalent' then 'same_as'
        when 'inexact' then 'possibly_equivalent_to'
    end as kind
from targeted;
