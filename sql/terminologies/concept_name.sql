-- The names of active concepts in one language.
--
-- reads   concept, description
-- writes  rows of term and concept_id, each once, in order of term and concept_id
-- params  $language text: the language of the names

select distinct
    d.term,
    d.concept_id
from description as d
inner join concept as c on d.concept_id = c.concept_id
where
    d.active
    and c.active
    and d.language = $language
order by all;
