-- The names that the rows of a table give to concepts.
--
-- reads   given
-- writes  name: a row per name; place is the number of its row, part its number in the row;
--         concept_id may be null, and term empty
-- params  $separator text: what separates synonyms
--         $language text: the language of a name without one

create or replace table name as

with stated as (
    select
        place,
        0 as part,
        concept as concept_id,
        term,
        coalesce(table_kind(kind), 'unstated') as kind,
        language,
        active,
        obsolete
    from given
    where
        synonyms is null
        or term is not null
    union all
    select
        place,
        unnest(generate_series(1, len(string_split(synonyms, $separator)))) as part,
        concept as concept_id,
        unnest(string_split(synonyms, $separator)) as term,
        'synonym' as kind,
        language,
        active,
        obsolete
    from given
    where synonyms is not null
)

select
    place,
    part,
    nullif(concept_id, '') as concept_id,
    coalesce(trimmed(term), '') as term,
    kind,
    coalesce(umls_language(upper(split_part(nullif(trimmed(language), ''), '-', 1))), $language)
        as language,
    coalesce(table_active(active, false), true) and coalesce(table_active(obsolete, true), true)
        as active
from stated;
