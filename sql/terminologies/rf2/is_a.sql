-- The is-a relationships that were active on one date.
--
-- reads   rf2_relationship: full history or snapshot, key (id, effective_time)
-- writes  is_a: a row per child and parent, key (child_id, parent_id), with the newest
--         effective_time of its relationships
-- params  $as_of date: the date; null takes the newest rows

create or replace table is_a as

select
    child_id,
    parent_id,
    nullif(max(effective_time), 'infinity') as effective_time
from newest_rows('rf2_relationship', $as_of)
where active
group by
    child_id,
    parent_id
order by
    child_id,
    parent_id;
