-- The main name of concepts, and their category: the first of the named categories that has the
-- concept or is it, or if none is named, the semantic tag or type.
--
-- reads   category, category_member, concept, naming
-- writes  concept_category: a row per concept, key concept_id; category or main_name may be null

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
),

categorised as (
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
),

named as (
    select
        concept_id,
        min(term) as main_name
    from naming
    where
        gives_term
        and kind = 'fsn'
    group by concept_id
)

select
    coalesce(c.concept_id, n.concept_id) as concept_id,
    c.category,
    n.main_name
from categorised as c
full outer join named as n on c.concept_id = n.concept_id
order by concept_id;
