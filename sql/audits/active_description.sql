-- The names of active concepts outside the model component module, each once.
--
-- reads   concept, naming
-- writes  a row per concept and name, key (concept1, term1)

select distinct
    d.concept_id as concept1,
    d.term as term1
from naming as d
inner join concept as c on d.concept_id = c.concept_id
where
    d.gives_term
    and c.active
    and c.module_id is distinct from sctid('model_component_module')
order by
    concept1,
    term1;
