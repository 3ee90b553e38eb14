-- Descriptions that make no term and whose text, ignoring case, is a term of another split.
--
-- reads   description, other_text: term, lower_term; term_split, concept_split
-- writes  left_out: a row per description, key (description_id, concept_id)
-- params  $language text: the language of the names

create or replace table left_out as

select
    d.description_id,
    d.concept_id,
    s.split
from description as d
inner join concept_split as s on d.concept_id = s.concept_id
inner join other_text as o on d.term = o.term
inner join term_split as n on o.lower_term = n.lower_term
where
    s.split <> n.split
    and (not d.active or d.language <> $language)
order by
    d.description_id,
    d.concept_id;
