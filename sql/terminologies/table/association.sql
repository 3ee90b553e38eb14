-- The concepts that replace others.
--
-- reads   given, setting
-- writes  association: a row per pair of concepts, key (source_id, target_id, kind)

create or replace table association as

with separator as (
    select coalesce(max(nullif(s.separator, '')), cell_separator(g.replaced_by)) as sign
    from given as g
    cross join setting as s
),

stated as (
    select
        g.concept as source_id,
        trimmed(unnest(string_split(g.replaced_by, s.sign))) as target_id
    from given as g
    cross join separator as s
    where g.concept <> ''
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
