-- The smallest id among the concepts that have a term, active or not.
--
-- reads   named
-- writes  bearer: a row per term, key term_id

create or replace table bearer as

select
    term_id,
    min(concept_id) as concept_id
from named
group by term_id
order by term_id;
