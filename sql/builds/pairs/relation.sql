-- The closest relation in the hierarchy of the concepts that two terms name.
--
-- Several concepts may have a term; of their relations the closest counts. A category is a semantic
-- tag, or a concept just below a root. The query adds ancestors until it finds no new ones, so it
-- ends even if the hierarchy has cycles.
--
-- reads   unlike: pairs of terms in lower case, key pair_id
--         term, name, concept, is_a
-- writes  a row per pair with known concepts, key pair_id: relation is parent_child, ancestor,
--         sibling, category or unrelated

with recursive node as (
    select distinct
        t.lower_term,
        n.concept_id
    from term as t
    inner join name as n on t.node_id = n.node_id
),

bearer as (
    select
        u.pair_id,
        a.concept_id as left_id,
        b.concept_id as right_id
    from unlike as u
    inner join node as a on u.lower1 = a.lower_term
    inner join node as b on u.lower2 = b.lower_term
),

bearing as (
    select left_id as concept_id
    from bearer
    union
    select right_id as concept_id
    from bearer
),

above as (
    select
        concept_id,
        concept_id as ancestor_id
    from bearing
    union
    select
        a.concept_id,
        i.parent_id as ancestor_id
    from above as a
    inner join is_a as i on a.ancestor_id = i.child_id
),

category as (
    select distinct i.child_id as concept_id
    from is_a as i
    anti join is_a as higher on i.parent_id = higher.child_id
),

ancestors as (
    select
        a.concept_id,
        list(a.ancestor_id) as every,
        list(a.ancestor_id) filter (where c.concept_id is not null) as categories
    from above as a
    left join category as c on a.ancestor_id = c.concept_id
    group by a.concept_id
),

parents as (
    select
        child_id as concept_id,
        list(parent_id) as every
    from is_a
    group by child_id
),

place as (
    select
        b.concept_id,
        a.every as ancestors,
        a.categories,
        coalesce(p.every, []) as parents,
        nullif(c.semantic_tag, '') as tag
    from bearing as b
    inner join ancestors as a on b.concept_id = a.concept_id
    left join parents as p on b.concept_id = p.concept_id
    left join concept as c on b.concept_id = c.concept_id
)

select
    e.pair_id,
    ['parent_child', 'ancestor', 'sibling', 'category', 'unrelated'][
        min(
            case
                when list_contains(a.parents, e.right_id) or list_contains(b.parents, e.left_id)
                    then 1
                when
                    list_contains(a.ancestors, e.right_id)
                    or list_contains(b.ancestors, e.left_id)
                    then 2
                when list_has_any(a.parents, b.parents) then 3
                when list_has_any(a.categories, b.categories) or a.tag = b.tag then 4
                else 5
            end
        )
    ] as relation
from bearer as e
inner join place as a on e.left_id = a.concept_id
inner join place as b on e.right_id = b.concept_id
group by e.pair_id
order by all;
