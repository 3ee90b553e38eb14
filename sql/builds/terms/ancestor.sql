-- The ancestors of each concept, at any distance.
--
-- The query adds ancestors until it finds no new ones, so it ends even if the hierarchy has cycles.
-- A concept in a cycle is its own ancestor. Concepts in between need no descriptions, since a split
-- has the whole hierarchy.
--
-- reads   is_a, described_concept
-- writes  ancestor: a row per concept and ancestor with descriptions, by their numbers, key
--         (concept_number, ancestor_number)

create or replace table ancestor as

with recursive known as (
    select child_id as concept_id
    from is_a
    union
    select parent_id as concept_id
    from is_a
),

node as materialized (
    select
        concept_id,
        (row_number() over (order by concept_id))::int as number
    from known
),

edge as materialized (
    select
        c.number as child,
        p.number as parent
    from is_a as i
    inner join node as c on i.child_id = c.concept_id
    inner join node as p on i.parent_id = p.concept_id
),

above as (
    select
        child,
        parent
    from edge
    union
    select
        a.child,
        e.parent
    from above as a
    inner join edge as e on a.parent = e.child
)

select
    lower.concept_number,
    upper.concept_number as ancestor_number
from above as a
inner join node as c on a.child = c.number
inner join node as p on a.parent = p.number
inner join described_concept as lower on c.concept_id = lower.concept_id
inner join described_concept as upper on p.concept_id = upper.concept_id;
