-- Concepts that are replaced by others, or mapped to them.
--
-- reads   omop_relation, omop_kept
-- writes  association: a row per association, key (source_id, target_id, kind)

create or replace table association as

select distinct
    r.source_id::varchar as source_id,
    r.target_id::varchar as target_id,
    r.kind,
    true as active
from omop_relation as r
semi join omop_kept as s on r.source_id = s.concept_id
semi join omop_kept as t on r.target_id = t.concept_id
where
    r.active
    and r.kind <> 'is_a'
order by all;
