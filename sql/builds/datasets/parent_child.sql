-- Pairs of the fully specified names of a concept and of one of its parents.
--
-- Only builds with a hierarchy have the dataset. Two names that some concept has together are left
-- out, because they mean the same.
--
-- reads   is_a, name
-- writes  parent_child: candidate pairs, a row per relationship of two eligible concepts
-- order   7

create or replace table parent_child as

with edge as (
    select
        child.term_id as term1_id,
        parent.term_id as term2_id,
        child.node_id as node1_id,
        parent.node_id as node2_id,
        child.concept_id as concept1,
        parent.concept_id as concept2
    from is_a as i
    inner join name as child on i.child_id = child.concept_id
    inner join name as parent on i.parent_id = parent.concept_id
    where
        child.is_fsn
        and parent.is_fsn
),

synonymous as (
    select
        e.node1_id,
        e.node2_id
    from edge as e
    inner join name as a on e.node1_id = a.node_id
    inner join name as b
        on
            e.node2_id = b.node_id
            and a.concept_id = b.concept_id
)

select
    e.term1_id,
    e.term2_id,
    e.node1_id,
    e.node2_id,
    e.concept1,
    e.concept2
from edge as e
anti join synonymous as s
    on
        e.node1_id = s.node1_id
        and e.node2_id = s.node2_id;
