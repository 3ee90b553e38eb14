-- Concepts as of one date, with the semantic tag of their fully specified name.
--
-- reads   rf2_concept: full history or snapshot, key (id, effective_time)
--         description_as_of
-- writes  concept: a row per concept, key concept_id; the tag is empty if there is none
-- params  $as_of date: the date; null takes the newest rows
--         $language text: the language of the name that gives the tag

create or replace table concept as

select
    c.id as concept_id,
    c.active,
    c.module_id,
    coalesce(d.tag, '') as semantic_tag,
    nullif(c.effective_time, 'infinity') as effective_time
from newest_rows('rf2_concept', $as_of) as c
left join description_as_of as d
    on
        c.id = d.concept_id
        and d.kind = 'fsn'
        and d.active
        and d.term <> ''
        and not d.outranked
        and d.language = $language
order by c.id;
