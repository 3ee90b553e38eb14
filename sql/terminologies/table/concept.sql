-- The concepts of a table; a concept is in use if one of its rows is.
--
-- reads   given, name
-- writes  concept: a row per concept, key concept_id

create or replace table concept as

with category as (
    select
        concept as concept_id,
        arg_min(category, place) as category
    from given
    where category is not null
    group by concept
)

select
    n.concept_id,
    bool_or(n.active) as active,
    '' as module_id,
    coalesce(trimmed(any_value(c.category)), '') as semantic_tag
from name as n
left join category as c on n.concept_id = c.concept_id
where n.concept_id is not null
group by n.concept_id
order by n.concept_id;
