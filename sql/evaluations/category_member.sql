-- The active concepts strictly below each category's concept.
--
-- The closure is a set that grows until there are no new concepts, so cycles end, and a concept
-- that is reached in several ways appears once.
--
-- reads   category, concept, is_a
-- writes  category_member: a row per category and concept, key (category, concept_id); is_shared
--         says that the concept is below several categories
-- cites   Schulz and Juric 2020, section 5.3

create or replace table category_member as

with recursive below as (
    select
        category,
        concept_id
    from category
    union
    select
        b.category,
        i.child_id as concept_id
    from below as b
    inner join is_a as i on b.concept_id = i.parent_id
)

select
    b.category,
    b.concept_id,
    count(*) over (partition by b.concept_id) > 1 as is_shared
from below as b
inner join concept as c on b.concept_id = c.concept_id
anti join category as top
    on
        b.category = top.category
        and b.concept_id = top.concept_id
where c.active
order by all;
