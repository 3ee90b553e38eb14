-- The descriptions that are preferred or acceptable in a dialect, or in any, on one date.
--
-- reads   rf2_language: full history or snapshot, key (id, effective_time)
-- writes  dialect_name: a row per description, key description_id
-- params  $as_of date: the date; null takes the newest rows
--         $refset_id text: the language reference set of the dialect; null for all

create or replace table dialect_name as

select
    description_id,
    bool_or(acceptability_id = sctid('preferred')) as preferred
from newest_rows('rf2_language', $as_of)
where
    active
    and refset_id = coalesce($refset_id, refset_id)
    and acceptability_id in (sctid('preferred'), sctid('acceptable'))
group by description_id
order by description_id;
