-- Concepts that are retired for others, or mapped to them.
--
-- A mapping that repeats another association of two concepts says less than that, and is left out.
--
-- reads   omop_relation, omop_kept
-- writes  association: a row per association, key (source_id, target_id, kind)

create or replace table association as

with stated as (
    select
        r.source_id,
        r.target_id,
        r.kind
    from omop_relation as r
    semi join omop_kept as s on r.source_id = s.concept_id
    semi join omop_kept as t on r.target_id = t.concept_id
    where
        r.active
        and r.kind <> 'is_a'
)

select distinct
    s.source_id::varchar as source_id,
    s.target_id::varchar as target_id,
    case s.kind
        when 'maps_to' then 'possibly_equivalent_to'
        else s.kind
    end as kind,
    true as active
from stated as s
anti join stated as other
    on
        s.source_id = other.source_id
        and s.target_id = other.target_id
        and s.kind = 'maps_to'
        and other.kind <> 'maps_to'
order by all;
