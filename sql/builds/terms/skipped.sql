-- The number of rows of the canonical tables that make no pair, by reason.
--
-- reads   concept, naming, association, substitution_name, dataset, name, translation
-- writes  a row per reason, key reason; reasons that never apply have 0 rows, except that of
--         several languages

with fsn as (
    select concept_id
    from naming
    where
        kind = 'fsn'
        and gives_term
        and language_number = 0
),

spelt as (
    select
        concept_id,
        0 as language_number,
        node_id
    from name
    union all
    select
        concept_id,
        language_number,
        node_id
    from translation
),

used as (
    select
        a.source_id,
        a.target_id
    from association as a
    semi join dataset as d on a.kind = d.name
    where a.active
),

reason as (
    select
        'concept has no active fully specified name' as reason,
        count(*) as n_rows
    from concept as c
    anti join fsn on c.concept_id = fsn.concept_id
    where
        c.active
        and c.module_id is distinct from sctid('model_component_module')
    union all
    select
        'association lacks a name on one side' as reason,
        count(*) as n_rows
    from used as a
    left join substitution_name as s on a.source_id = s.concept_id
    left join substitution_name as t on a.target_id = t.concept_id
    where
        s.concept_id is null
        or t.concept_id is null
    union all
    select
        'association is of a kind that no dataset has' as reason,
        count(*) as n_rows
    from association as a
    anti join dataset as d on a.kind = d.name
    where a.active
    union all
    select
        'association names a namespace' as reason,
        count(*) as n_rows
    from used as a
    inner join substitution_name as t on a.target_id = t.concept_id
    where t.is_namespace
    union all
    select
        'name is the same in two languages' as reason,
        count(*) as n_rows
    from spelt as s
    inner join translation as t
        on
            s.concept_id = t.concept_id
            and s.node_id = t.node_id
            and s.language_number < t.language_number
    having count(*) > 0
)

select
    reason,
    n_rows
from reason
order by reason;
