-- The concepts of one split.
--
-- reads   whole_concept, concept_split of that split
-- writes  concept: a row per concept, key concept_id

create or replace table concept as

select c.* -- noqa: AM04
from whole_concept as c
semi join concept_split as s on c.concept_id = s.concept_id
order by c.concept_id;
