-- The concepts of a table; a concept is in use if one of its rows is.
--
-- reads   given
-- writes  concept: a row per concept, key concept_id

create or replace table concept as

select
    concept as concept_id,
    bool_or(
        coalesce(table_active(active, false), true)
        and coalesce(table_active(obsolete, true), true)
    ) as active,
    '' as module_id,
    coalesce(trimmed(arg_min(category, place)), '') as semantic_tag
from given
where concept <> ''
group by concept
order by concept_id;
