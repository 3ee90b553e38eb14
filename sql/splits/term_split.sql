-- The split of every term, ignoring case.
--
-- reads   concept_term, numbered_concept, concept_split, term
-- writes  term_split: a row per lower-cased term, key lower_term

create or replace table term_split as

select
    t.lower_term,
    min(s.split) as split
from concept_term as b
inner join numbered_concept as m on b.concept_number = m.concept_number
inner join concept_split as s on m.concept_id = s.concept_id
inner join term as t on b.term_id = t.term_id
group by t.lower_term
order by t.lower_term;
