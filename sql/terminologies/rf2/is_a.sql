-- The is-a relationships that were active on one day, by their newest row not after it.
--
-- reads   rf2_relationship: full history or snapshot, key (id, effective_time)
-- writes  is_a: a row per child and parent, key (child_id, parent_id)
-- params  $as_of date: the day; null takes the newest rows

create or replace table is_a as

with newest as (
    select
        active,
        child_id,
        parent_id
    from rf2_relationship
    where effective_time <= coalesce($as_of::date, 'infinity'::date)
    qualify row_number() over (partition by id order by effective_time desc) = 1
)

select distinct
    child_id,
    parent_id
from newest
where active
order by
    child_id,
    parent_id;
