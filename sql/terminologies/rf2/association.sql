-- Associations outside the model component module; one is active if any of its members is.
--
-- reads   association_as_of
-- writes  association: a row per association, key (source_id, target_id, kind)

create or replace table association as

select
    source_id,
    target_id,
    kind,
    bool_or(active) as active
from association_as_of
where module_id <> sctid('model_component_module')
group by
    source_id,
    target_id,
    kind
order by
    source_id,
    target_id,
    kind;
