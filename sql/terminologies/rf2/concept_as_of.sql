-- Concepts as they stood on one day: the newest row of each that is not after it.
--
-- reads   rf2_concept: full history or snapshot, key (id, effective_time)
-- writes  concept_as_of: a row per concept, key concept_id
-- params  $as_of date: the day; null takes the newest rows

create or replace table concept_as_of as

select
    id as concept_id,
    active,
    module_id
from rf2_concept
where effective_time <= coalesce($as_of::date, 'infinity'::date)
qualify row_number() over (partition by id order by effective_time desc) = 1;
