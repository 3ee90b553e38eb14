-- Active concepts without a fully specified name in the build's language, with one of their names.
--
-- reads   active_name, concept
-- writes  a row per concept, key concept1; term1 is null if it has no name

select
    'no_main_name' as kind,
    c.concept_id as concept1,
    min(n.term) as term1
from concept as c
left join active_name as n on c.concept_id = n.concept_id
where
    c.active
    and c.module_id is distinct from sctid('model_component_module')
group by c.concept_id
having not coalesce(bool_or(n.is_fsn), false)
order by
    term1,
    concept1;
