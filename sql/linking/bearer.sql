-- The concepts of each name.
--
-- reads   entry, name
-- writes  bearer: a row per name and concept, key (name_id, concept_id)

create or replace table bearer as

select distinct
    n.name_id,
    e.concept_id
from entry as e
inner join name as n on e.lower_term = n.lower_term
order by all;
