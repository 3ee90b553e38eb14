-- The names of eligible concepts in the build's first language: the fully specified name, and the
-- synonyms that differ from it when case is ignored.
--
-- A concept is eligible if it is active, outside the model component module, and has an active
-- fully specified name in this language.
--
-- reads   concept, named
-- writes  name: a row per concept and term, key (concept_id, term_id)
-- cites   Schulz and Juric 2020, section 3.1

create or replace table name as

with head as (
    select
        n.concept_id,
        n.term_id,
        n.node_id
    from named as n
    inner join concept as c on n.concept_id = c.concept_id
    where
        n.kind = 'fsn'
        and n.language_number = 0
        and c.active
        and c.module_id is distinct from sctid('model_component_module')
)

select
    concept_id,
    term_id,
    node_id,
    true as is_fsn
from head
union all
select distinct
    n.concept_id,
    n.term_id,
    n.node_id,
    false as is_fsn
from named as n
inner join head as h on n.concept_id = h.concept_id
where
    n.kind = 'synonym'
    and n.language_number = 0
    and n.node_id <> h.node_id
order by
    concept_id asc,
    is_fsn desc,
    term_id asc;
