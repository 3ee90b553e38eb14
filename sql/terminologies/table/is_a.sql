-- Concepts and their parents.
--
-- reads   given
-- writes  is_a: a row per child and parent, key (child_id, parent_id)
-- params  $separator text: what separates several parents

create or replace table is_a as

with stated as (
    select
        concept as child_id,
        trimmed(unnest(string_split(parent, $separator))) as parent_id
    from given
    where concept <> ''
)

select distinct
    child_id,
    parent_id
from stated
where
    parent_id <> ''
    and parent_id <> child_id
order by all;
