-- The names of active concepts outside the model component module, each once.
--
-- reads   concept, naming, term
-- writes  active_name: a row per concept and spelling, key (concept_id, term); n_descriptions is
--         the number of descriptions that the source lists with that spelling
-- params  $rf2_rules bool: whether the source lists fully specified names with a semantic tag

create or replace table active_name as

select
    d.concept_id,
    d.term,
    t.node_id,
    bool_or(d.kind = 'fsn') as is_fsn,
    count(*) filter (
        not stands_in(d.description_id)
        and not (d.kind = 'fsn' and $rf2_rules)
    ) as n_descriptions
from naming as d
inner join concept as c on d.concept_id = c.concept_id
inner join term as t on d.term = t.term
where
    d.gives_term
    and c.active
    and c.module_id is distinct from sctid('model_component_module')
group by
    d.concept_id,
    d.term,
    t.node_id
order by
    d.concept_id,
    d.term;
