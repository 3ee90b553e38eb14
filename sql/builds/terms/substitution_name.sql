-- The name of each concept for associations: its active fully specified name in the build's first
-- language, in RF2 without the marker of retired concepts.
--
-- reads   concept, naming
-- writes  substitution_name: a row per concept with such a name, key concept_id; is_marked says
--         that the fully specified name has a marker; is_namespace says that it names a
--         namespace, which cannot be a substitute
-- params  $rf2_rules bool: whether the marker and namespaces have a meaning
-- cites   Schulz and Juric 2020, section 3.2

create or replace table substitution_name as

with name as (
    select
        d.concept_id,
        d.term as fsn,
        case
            when $rf2_rules and contains(d.term, '[D]') then without_marker(d.term)
            else d.term
        end as term,
        $rf2_rules and (
            contains(d.term, 'namespace')
            or contains(coalesce(c.semantic_tag, ''), 'namespace')
        ) as is_namespace
    from naming as d
    left join concept as c on d.concept_id = c.concept_id
    where
        d.kind = 'fsn'
        and d.gives_term
        and d.language_number = 0
)

select
    concept_id,
    term,
    fsn <> term as is_marked,
    is_namespace
from name
where term <> ''
order by concept_id;
