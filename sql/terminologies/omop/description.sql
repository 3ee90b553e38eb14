-- The distinct names of concepts: in English the name in CONCEPT.csv is the fully specified name;
-- in another language it is the first in order of text.
--
-- reads   omop_kept, omop_synonym, omop_concept
-- writes  description: a row per concept, language and text, key description_id; the id is the
--         concept's id with a number

create or replace table description as

with used_language as (
    select distinct language_id
    from omop_synonym
),

language_code as (
    select
        u.language_id,
        omop_language(u.language_id, c.term) as language
    from used_language as u
    left join omop_concept as c on u.language_id = c.concept_id
),

name as (
    select
        concept_id,
        'en' as language,
        term,
        0 as place
    from omop_kept
    where term <> ''
    union all
    select
        s.concept_id,
        l.language,
        s.term,
        1 as place
    from omop_synonym as s
    semi join omop_kept as k on s.concept_id = k.concept_id
    inner join language_code as l on s.language_id = l.language_id
    where s.term <> ''
),

distinct_name as (
    select
        concept_id,
        language,
        term,
        min(place) as place
    from name
    group by
        concept_id,
        language,
        term
)

select
    concept_id
    || '/'
    || row_number() over (partition by concept_id order by place, language, term) as description_id,
    concept_id::varchar as concept_id,
    term,
    case row_number() over (partition by concept_id, language order by place, term)
        when 1 then 'fsn'
        else 'synonym'
    end as kind,
    true as active,
    language
from distinct_name
order by description_id;
