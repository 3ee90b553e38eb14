-- The concepts of both releases, with their state in each.
--
-- reads   old_concept, old_description, old_is_a, new_concept, new_description, new_is_a
-- writes  release_concept: a row per concept, key concept_id; change is null if nothing changed;
--         kept says that it is active in both releases; term is the main name, of the new release
--         if it has one; old_parents and new_parents are identifiers in order, with a comma and a
--         space between them, and null without parents
-- params  $language text: the language of the main names

create or replace table release_concept as

with old_parent as (
    select
        child_id as concept_id,
        string_agg(parent_id, ', ' order by parent_id) as parents
    from old_is_a
    group by child_id
),

new_parent as (
    select
        child_id as concept_id,
        string_agg(parent_id, ', ' order by parent_id) as parents
    from new_is_a
    group by child_id
),

main_name as (
    select
        false as is_new,
        concept_id,
        term
    from old_description
    where
        active
        and kind = 'fsn'
        and language = $language
    union all
    select
        true as is_new,
        concept_id,
        term
    from new_description
    where
        active
        and kind = 'fsn'
        and language = $language
),

label as (
    select
        concept_id,
        coalesce(max(term) filter (where is_new), max(term)) as term
    from main_name
    group by concept_id
),

concept as (
    select
        coalesce(n.concept_id, o.concept_id) as concept_id,
        o.concept_id is not null as was_known,
        n.concept_id is not null as is_known,
        coalesce(o.active, false) as was_active,
        coalesce(n.active, false) as is_active,
        coalesce(nullif(n.semantic_tag, ''), o.semantic_tag, '') as category
    from old_concept as o
    full outer join new_concept as n on o.concept_id = n.concept_id
)

select
    c.concept_id,
    case
        when c.is_active and not c.was_known then 'added'
        when c.is_active and not c.was_active then 'reactivated'
        when c.was_active and not c.is_known then 'removed'
        when c.was_active and not c.is_active then 'retired'
        when c.is_active and coalesce(o.parents, '') <> coalesce(n.parents, '') then 'moved'
    end as change,
    l.term,
    c.category,
    o.parents as old_parents,
    n.parents as new_parents,
    c.was_active and c.is_active as kept
from concept as c
left join label as l on c.concept_id = l.concept_id
left join old_parent as o on c.concept_id = o.concept_id
left join new_parent as n on c.concept_id = n.concept_id;
