-- The distinct names of concepts: the first preferred name of a concept in a language is its fully
-- specified name, or else the first name.
--
-- All names of an inactive concept are active.
--
-- reads   name, concept
-- writes  description: a row per concept, language and text, key description_id; the id is the
--         concept's id with a number

create or replace table description as

with distinct_name as (
    select
        n.concept_id,
        n.language,
        n.term,
        min(n.place * 4294967296 + n.part) as place,
        bool_or(n.active or not c.active) as active,
        bool_or(n.kind = 'fsn') as is_preferred
    from name as n
    inner join concept as c on n.concept_id = c.concept_id
    where
        n.term <> ''
        and n.kind <> 'definition'
    group by
        n.concept_id,
        n.language,
        n.term
)

select
    concept_id
    || '/'
    || row_number() over in_order as description_id,
    concept_id,
    term,
    case
        when coalesce(lag(language) over in_order, '') <> language then 'fsn'
        else 'synonym'
    end as kind,
    active,
    language
from distinct_name
window
    in_order as (
        partition by concept_id
        order by language, not active, not is_preferred, place
    )
order by description_id;
