-- Concepts and their parents.
--
-- reads   given, setting
-- writes  is_a: a row per child and parent, key (child_id, parent_id)

create or replace table is_a as

with separator as (
    select coalesce(max(nullif(s.separator, '')), cell_separator(g.parent)) as sign
    from given as g
    cross join setting as s
),

stated as (
    select
        g.concept as child_id,
        trimmed(unnest(string_split(g.parent, s.sign))) as parent_id
    from given as g
    cross join separator as s
    where g.concept <> ''
)

select distinct
    child_id,
    parent_id
from stated
where
    parent_id <> ''
    and parent_id <> child_id
order by all;
