-- The sets of a build by number.
--
-- reads   pair
-- writes  pair_set: a row per set, key set_id

create or replace table pair_set as

with named as (
    select distinct
        dataset,
        difficulty,
        negatives
    from pair
)

select
    (row_number() over (order by dataset, difficulty, negatives))::usmallint as set_id,
    dataset,
    difficulty,
    negatives
from named
order by set_id;
