-- Names that an active concept has more than once when case is ignored.
--
-- reads   concept, naming, term
-- writes  a row per concept and name, key (concept1, term1)

select
    'repeated' as kind,
    d.concept_id as concept1,
    min(d.term) as term1,
    d.concept_id as concept2,
    max(d.term) as term2,
    0 as distance
from naming as d
inner join concept as c on d.concept_id = c.concept_id
inner join term as t on d.term = t.term
where
    d.gives_term
    and c.active
    and c.module_id is distinct from sctid('model_component_module')
group by
    d.concept_id,
    t.node_id
having count(*) > 1
order by
    concept1,
    term1;
