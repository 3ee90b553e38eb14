-- The texts of all names of active concepts.
--
-- reads   description, concept
-- writes  a row per text, key term
-- params  $language text: the language of the names

select distinct d.term
from description as d
inner join concept as c on d.concept_id = c.concept_id
where
    d.active
    and c.active
    and d.language = $language
order by d.term;
