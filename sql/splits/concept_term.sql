-- The terms of each concept, active or not: its names, and its name in associations.
--
-- reads   naming, substitution_name, numbered_concept, term
-- writes  concept_term: a row per concept and term, key (concept_number, term_id)

create or replace table concept_term as

with named as (
    select
        concept_id,
        term
    from naming
    where gives_term
    union
    select
        concept_id,
        term
    from substitution_name
)

select
    m.concept_number,
    t.term_id
from named as n
inner join numbered_concept as m on n.concept_id = m.concept_id
inner join term as t on n.term = t.term
order by
    m.concept_number,
    t.term_id;
