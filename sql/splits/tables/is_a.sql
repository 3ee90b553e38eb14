-- All relationships of the terminology, which have no names: what is below a concept can be told
-- in every split.
--
-- reads   whole_is_a
-- writes  is_a: a row per relationship, key (child_id, parent_id)

create or replace table is_a as

select
    child_id,
    parent_id
from whole_is_a
order by
    child_id,
    parent_id;
