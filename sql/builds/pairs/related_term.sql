-- The pairs of terms that are names of a concept and of its ancestor, which are never negatives of
-- parent_child.
--
-- Terms that the dataset's negatives cannot have are left out. If each set draws from its own
-- terms, these are all terms but the fully specified names, in upper or lower case.
--
-- reads   ancestor, described_concept, name, term
-- writes  a row per pair of terms, possibly repeated
-- params  $pool text: "terminology" or "set"

with main_node as (
    select distinct node_id
    from name
    where is_fsn
),

candidate as (
    select distinct
        c.concept_number,
        t.term_id,
        m.node_id is not null as is_main
    from name as n
    inner join described_concept as c on n.concept_id = c.concept_id
    inner join term as t on n.node_id = t.node_id
    left join main_node as m on n.node_id = m.node_id
    where
        $pool = 'terminology'
        or m.node_id is not null
)

select
    lower.term_id as term1_id,
    upper.term_id as term2_id
from ancestor as a
inner join candidate as lower on a.concept_number = lower.concept_number
inner join candidate as upper on a.ancestor_number = upper.concept_number
where
    lower.is_main
    or upper.is_main
order by
    term1_id,
    term2_id;
