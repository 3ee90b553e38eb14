-- The languages that have active descriptions, the most frequent first.
--
-- reads   concept, description
-- writes  a row per language, key language; n_main_names counts its fully specified names, and
--         n_concepts the concepts that it names, without those that are retired or of the model
--         component module

with ineligible as (
    select concept_id
    from concept
    where
        not active
        or module_id = sctid('model_component_module')
)

select
    d.language,
    count(*) filter (d.kind = 'fsn' and i.concept_id is null) as n_main_names,
    count(distinct d.concept_id) filter (i.concept_id is null) as n_concepts
from description as d
left join ineligible as i on d.concept_id = i.concept_id
where d.active
group by d.language
order by
    count(*) desc,
    d.language asc;
