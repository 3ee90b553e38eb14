-- Names; the first in a language that is not a mere synonym is its fully specified name.
--
-- reads   fhir_name
-- writes  description: key description_id

create or replace table description as

with distinct_name as (
    select
        concept_id,
        language,
        term,
        min(place) as place,
        arg_min(is_main, place) as is_main
    from fhir_name
    where term <> ''
    group by
        concept_id,
        language,
        term
),

ranked as (
    select
        concept_id,
        language,
        term,
        is_main,
        row_number() over (
            partition by concept_id
            order by
                place,
                term
        ) as place,
        row_number() over (
            partition by
                concept_id,
                language,
                is_main
            order by
                place,
                term
        ) as rank
    from distinct_name
)

select
    concept_id || '/' || place as description_id,
    concept_id,
    term,
    if(is_main and rank = 1, 'fsn', 'synonym') as kind,
    true as active,
    language
from ranked
order by description_id;
