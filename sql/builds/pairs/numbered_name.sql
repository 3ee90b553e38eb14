-- The active names of active concepts, in every language, by the numbers of their terms.
--
-- reads   concept, description, term
-- writes  numbered_name: a row per active name, key (concept_id, language, term_id, kind)

create or replace table numbered_name as

select distinct
    d.concept_id,
    d.language,
    t.term_id,
    d.kind
from description as d
inner join concept as c on d.concept_id = c.concept_id
inner join term as t on d.term = t.term
where
    d.active
    and c.active;
