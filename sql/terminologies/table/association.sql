-- The concepts that replace others.
--
-- reads   given
-- writes  association: a row per pair of concepts, key (source_id, target_id, kind)
-- params  $separator text: what separates several concepts

create or replace table association as

with stated as (
    select
        concept as source_id,
        trimmed(unnest(string_split(replaced_by, $separator))) as target_id
    from given
    where concept <> ''
)

select distinct
    source_id,
    target_id,
    'replaced_by' as kind,
    true as active
from stated
where
    target_id <> ''
    and target_id <> source_id
order by all;
