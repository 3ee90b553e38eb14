-- Concepts and their broader concepts.
--
-- reads   umls_relation
-- writes  is_a: a row per child and parent, key (child_id, parent_id)

create or replace table is_a as

select
    source_id as child_id,
    target_id as parent_id
from umls_relation
where
    kind = 'is_a'
    and active
    and source_id <> ''
order by all;
