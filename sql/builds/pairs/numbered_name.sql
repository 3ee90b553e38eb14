-- The active names of active concepts, in every language, with numbers for concepts and terms.
--
-- reads   described_concept, description, term
-- writes  numbered_name: a row per active name; a repeated name has several rows

create or replace table numbered_name as

select
    c.concept_number,
    d.language,
    t.term_id,
    d.kind
from description as d
inner join described_concept as c on d.concept_id = c.concept_id
inner join term as t on d.term = t.term
where
    d.active
    and c.is_active;
