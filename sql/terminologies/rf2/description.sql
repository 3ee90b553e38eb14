-- The names of concepts, without empty names, and with at most one active fully specified name per
-- concept and language: the newest, then the name with the smallest id.
--
-- reads   description_as_of
-- writes  description: a row per name, key description_id
-- cites   Schulz and Juric 2020, section 3.1

create or replace table description as

select
    description_id,
    concept_id,
    term,
    kind,
    active,
    language,
    nullif(effective_time, 'infinity') as effective_time
from description_as_of
where
    kind is not null
    and term <> ''
    and not outranked
order by description_id;
