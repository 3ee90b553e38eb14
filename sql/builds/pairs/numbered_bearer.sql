-- The smallest concept that bears a term, by number.
--
-- reads   bearer, checked_concept
-- writes  numbered_bearer: a row per term, key term_id

create or replace table numbered_bearer as

select
    b.term_id,
    c.concept_number
from bearer as b
left join checked_concept as c on b.concept_id = c.concept_id;
