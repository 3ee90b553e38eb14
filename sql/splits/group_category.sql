-- The most frequent category of the concepts of each group; ties go to the first name.
--
-- reads   concept_group, concept
-- writes  a row per group, key group_id; category is empty if no concept has one; n_concepts

with counted as (
    select
        g.group_id,
        c.semantic_tag as category,
        count(*) as n_concepts
    from concept_group as g
    inner join concept as c on g.concept_id = c.concept_id
    where c.semantic_tag <> ''
    group by all
),

most as (
    select
        group_id,
        category
    from counted
    qualify row_number() over (partition by group_id order by n_concepts desc, category asc) = 1
)

select
    g.group_id,
    coalesce(m.category, '') as category,
    count(*) as n_concepts
from concept_group as g
left join most as m on g.group_id = m.group_id
group by all
order by g.group_id;
