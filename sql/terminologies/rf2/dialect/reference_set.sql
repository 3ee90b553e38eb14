-- The language reference sets that have active members on one date.
--
-- reads   rf2_language: full history or snapshot, key (id, effective_time)
-- writes  a row per reference set, key refset_id
-- params  $as_of date: the date; null takes the newest rows

select distinct refset_id
from newest_rows('rf2_language', $as_of)
where active
order by refset_id;
