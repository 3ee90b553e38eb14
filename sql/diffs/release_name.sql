-- The names of the active concepts of both releases, in one language.
--
-- reads   old_concept, old_description, new_concept, new_description
-- writes  release_name: a row per release, concept and text, key (is_new, concept_id, term);
--         is_fsn says that it is the main name
-- params  $language text: the language of the names

create or replace table release_name as

with concept as (
    select
        false as is_new,
        concept_id
    from old_concept
    where active
    union all
    select
        true as is_new,
        concept_id
    from new_concept
    where active
),

description as (
    select
        false as is_new,
        concept_id,
        term,
        kind
    from old_description
    where
        active
        and language = $language
    union all
    select
        true as is_new,
        concept_id,
        term,
        kind
    from new_description
    where
        active
        and language = $language
)

select
    d.is_new,
    d.concept_id,
    d.term,
    bool_or(d.kind = 'fsn') as is_fsn
from description as d
inner join concept as c
    on
        d.is_new = c.is_new
        and d.concept_id = c.concept_id
group by all;
