-- Names that several eligible concepts have when case is ignored: the smallest concept with each of
-- the others.
--
-- reads   name, term
-- writes  a row per name and further concept, key (concept1, concept2, term1)

with spelt as (
    select
        n.node_id,
        n.concept_id,
        min(t.term) as term
    from name as n
    inner join term as t on n.term_id = t.term_id
    group by
        n.node_id,
        n.concept_id
),

numbered as (
    select
        node_id,
        concept_id,
        term,
        row_number() over (partition by node_id order by concept_id) as place
    from spelt
    qualify count(*) over (partition by node_id) > 1
)

select
    if(nfc_normalize(a.term) = nfc_normalize(b.term), 'same_name', 'case') as kind,
    a.concept_id as concept1,
    a.term as term1,
    b.concept_id as concept2,
    b.term as term2,
    0 as distance
from numbered as a
inner join numbered as b on a.node_id = b.node_id
where
    a.place = 1
    and b.place > 1
order by
    term1,
    term2,
    concept1,
    concept2;
