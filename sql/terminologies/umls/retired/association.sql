-- Associations, with those of retired concepts that have no names.
--
-- reads   association, umls_retired
--         concept: concepts that have names
-- writes  association: a row per association, key (source_id, target_id, kind)

create or replace table association as

select
    source_id,
    target_id,
    kind,
    active
from association
union
select
    r.source_id,
    r.target_id,
    r.kind,
    true as active
from umls_retired as r
anti join concept as s on r.source_id = s.concept_id
where r.target_id <> ''
order by all;
