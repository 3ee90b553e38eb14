-- Associations as they stood on one day: the newest row of each that is not after it.
--
-- reads   rf2_association: full history or snapshot, key (id, effective_time)
-- writes  association_as_of: a row per member of the reference sets, key id
-- params  $as_of date: the day; null takes the newest rows

create or replace table association_as_of as

select
    id,
    active,
    module_id,
    source_id,
    target_id,
    association_kind(refset_id) as kind
from rf2_association
where effective_time <= coalesce($as_of::date, 'infinity'::date)
qualify row_number() over (partition by id order by effective_time desc) = 1;
