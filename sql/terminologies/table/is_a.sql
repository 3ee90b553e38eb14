-- Concepts and their parents.
--
-- reads   reference
-- writes  is_a: a row per child and parent, key (child_id, parent_id)

create or replace table is_a as
select
    source_id as child_id,
    target_id as parent_id
from reference
where role = 'parent'
order by all;
