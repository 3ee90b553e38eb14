-- The concepts that replace others.
--
-- reads   reference
-- writes  association: a row per pair of concepts, key (source_id, target_id, kind)

create or replace table association as
select
    source_id,
    target_id,
    'replaced_by' as kind,
    true as active
from reference
where role = 'replaced_by'
order by all;
