-- Concepts that are replaced by others, the same as others, or synonymous with them.
--
-- reads   umls_relation
-- writes  association: a row per association, key (source_id, target_id, kind)

create or replace table association as

select
    source_id,
    target_id,
    kind,
    active
from umls_relation
where
    kind <> 'is_a'
    and active
    and source_id <> ''
order by all;
