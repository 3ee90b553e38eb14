-- Associations outside the model component module as of one date, followed by their two concepts
-- instead of their identifiers, as in the code of Schulz and Juric.
--
-- Two concepts have only the kind of their first row by identifier, active if its newest row is.
--
-- reads   rf2_association: full history, key (id, effective_time)
-- writes  association: a row per association, key (source_id, target_id, kind)
-- params  $as_of date: the date; null takes the newest rows
-- cites   Schulz and Juric 2020, the published code

create or replace table association as

with member as (
    select
        id,
        source_id,
        target_id,
        association_kind(refset_id) as kind,
        active,
        effective_time
    from rf2_association
    where
        effective_time <= coalesce($as_of::date, 'infinity'::date)
        and module_id <> sctid('model_component_module')
),

first_member as (
    select
        source_id,
        target_id,
        arg_min(kind, (id, effective_time)) as kind
    from member
    group by
        source_id,
        target_id
)

select
    m.source_id,
    m.target_id,
    m.kind,
    first(m.active order by m.effective_time desc, m.id asc) as active,
    nullif(max(m.effective_time), 'infinity') as effective_time
from member as m
semi join first_member as f
    on
        m.source_id = f.source_id
        and m.target_id = f.target_id
        and m.kind = f.kind
group by all
order by all;
