-- Associations with those of mappings between two concepts.
--
-- reads   association, mapped
-- writes  association: key (source_id, target_id, kind)

create or replace table association as

from association
union all by name
select distinct
    m.source_id,
    m.target_id,
    m.kind,
    true as active
from mapped as m
anti join association as a
    on
        m.source_id = a.source_id
        and m.target_id = a.target_id
        and m.kind = a.kind
where m.outcome = 'association'
order by
    source_id,
    target_id,
    kind;
