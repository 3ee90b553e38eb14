-- Descriptions that are not terms, but whose text, ignoring case, is a term of another split.
--
-- reads   naming, other_text: term, lower_term; term_split, concept_split
-- writes  left_out: a row per description, key (description_id, concept_id)

create or replace table left_out as

select
    d.description_id,
    d.concept_id,
    s.split
from naming as d
inner join concept_split as s on d.concept_id = s.concept_id
inner join other_text as o on d.term = o.term
inner join term_split as n on o.lower_term = n.lower_term
where
    s.split <> n.split
    and not d.gives_term
order by
    d.description_id,
    d.concept_id;
