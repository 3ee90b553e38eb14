-- The terms that negatives of every set may be drawn from, beside those of its own positives.
--
-- Where the pool is the terminology they are the names of eligible concepts and the terms of all
-- positives: the terms of which the terminology says what they are linked to. Other names of
-- retired concepts are left out, since nothing links them to the names that mean the same.
--
-- reads   name, positive
-- writes  pool: a row per term, key term_id; none where each set draws from its own terms
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
