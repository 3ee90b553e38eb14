-- The names of eligible concepts in the build's other languages, of any kind.
--
-- reads   name, named
-- writes  translation: a row per concept, language and term, key (concept_id, language_number,
--         term_id)

create or replace table translation as

with eligible as (
    select distinct concept_id
    from name
)

select distinct
    n.concept_id,
    n.language_number,
    n.term_id,
    n.node_id
from named as n
semi join eligible as e on n.concept_id = e.concept_id
where n.language_number > 0
order by
    n.concept_id,
    n.language_number,
    n.term_id;
