-- Associations outside the model component module as of one date; an association is active if any
-- of its members is.
--
-- reads   rf2_association: full history or snapshot, key (id, effective_time)
-- writes  association: a row per association, key (source_id, target_id, kind), with the newest
--         effective_time of its members
-- params  $as_of date: the date; null takes the newest rows

create or replace table association as

select
    source_id,
    target_id,
    association_kind(refset_id) as kind,
    bool_or(active) as active,
    nullif(max(effective_time), 'infinity') as effective_time
from newest_rows('rf2_association', $as_of)
where module_id <> sctid('model_component_module')
group by all
order by all;
