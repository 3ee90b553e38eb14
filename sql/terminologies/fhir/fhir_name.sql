-- The displays and designations of concepts, with their places in the concept.
--
-- A name without a language is in that of the code system, which is English by default. A
-- designation without a use is a main name, like a display.
--
-- reads   fhir_code_system, fhir_concept
-- writes  fhir_name: a row per name; its term may be empty

create or replace table fhir_name as

with designated as (
    select
        concept_id,
        unnest(json_extract(node, '$.designation[*]')) as item,
        generate_subscripts(json_extract(node, '$.designation[*]'), 1) as place
    from fhir_concept
),

named as (
    select
        concept_id,
        0 as place,
        node ->> '$.display' as term,
        null as language,
        true as is_main
    from fhir_concept
    union all
    select
        concept_id,
        place,
        item ->> '$.value' as term,
        item ->> '$.language' as language,
        json_extract(item, '$.use') is null
        or coalesce(item ->> '$.use.code', '')
        in ('display', 'preferredForLanguage', '900000000000003001') as is_main
    from designated
)

select
    n.concept_id,
    n.place,
    coalesce(trimmed(n.term), '') as term,
    lower(regexp_extract(coalesce(n.language, s.system ->> '$.language', 'en'), '^[^-_]*'))
        as language,
    n.is_main
from named as n
cross join fhir_code_system as s
where n.concept_id is not null;
