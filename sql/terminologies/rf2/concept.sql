-- Concepts with the semantic tag of their fully specified name.
--
-- reads   concept_as_of, description_as_of
-- writes  concept: a row per concept, key concept_id; the tag is empty where there is none
-- params  $language text: the language of the name that gives the tag

create or replace table concept as

select
    c.concept_id,
    c.active,
    c.module_id,
    coalesce(d.tag, '') as semantic_tag
from concept_as_of as c
left join description_as_of as d
    on
        c.concept_id = d.concept_id
        and d.kind = 'fsn'
        and d.active
        and d.term <> ''
        and not d.outranked
        and d.language = $language
order by c.concept_id;
