-- The distinct names of concepts: the best name of a concept in a language is its fully specified
-- name, the others are synonyms.
--
-- reads   umls_name
-- writes  description: a row per concept, language and text, key description_id

create or replace table description as

with distinct_name as (
    select
        atom_id,
        concept_id,
        language,
        term,
        place
    from umls_name
    where reason is null
    qualify row_number() over (
        partition by concept_id, language, term
        order by place, atom_id
    ) = 1
)

select
    atom_id as description_id,
    concept_id,
    term,
    case row_number() over (partition by concept_id, language order by place, atom_id)
        when 1 then 'fsn'
        else 'synonym'
    end as kind,
    true as active,
    language
from distinct_name
order by description_id;
