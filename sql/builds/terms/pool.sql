-- The terms that negatives of every set can be drawn from, besides the terms of its positives.
--
-- If the pool is the terminology, these are the names of eligible concepts and the terms of all
-- positives, because the terminology gives their synonyms. Other names of retired concepts are left
-- out, because nothing links them to their synonyms.
--
-- reads   name, positive
-- writes  pool: a row per term, key term_id; no rows if each set draws from its own terms
-- params  $pool text: "terminology" or "set"

create or replace table pool as

with usable as (
    select term_id from name
    union
    select term1_id as term_id from positive
    union
    select term2_id as term_id from positive
)

select term_id
from usable
where $pool = 'terminology'
order by term_id;
