-- The category of concepts: the first of the named categories that has the concept or is it, or if
-- none is named, the semantic tag or type.
--
-- reads   category, category_member, concept
-- writes  concept_category: a row per concept, key concept_id

create or replace table concept_category as

with member as (
    select
        category,
        concept_id
    from category
    union
    select
        category,
        concept_id
    from category_member
)

select
    m.concept_id,
    arg_min(c.name, c.category) as category
from member as m
inner join category as c on m.category = c.category
group by m.concept_id
union all
select
    concept_id,
    semantic_tag as category
from concept
where (select count(*) from category) = 0
order by concept_id;
