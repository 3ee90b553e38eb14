-- The terms that each concept bears, active or not: its names, and the name that stands for it in
-- associations.
--
-- reads   description, substitution_name, member, term
-- writes  borne: a row per concept and term, key (member_id, term_id)
-- params  $language text: the language of the names

create or replace table borne as

with named as (
    select
        concept_id,
        term
    from description
    where
        active
        and language = $language
    union
    select
        concept_id,
        term
    from substitution_name
)

select
    m.member_id,
    t.term_id
from named as n
inner join member as m on n.concept_id = m.concept_id
inner join term as t on n.term = t.term
order by
    m.member_id,
    t.term_id;
