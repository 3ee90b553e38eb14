-- Names of inactive concepts that eligible concepts have when case is ignored, where no active
-- association joins the two concepts.
--
-- reads   association, concept, name, naming, term
-- writes  a row per name, inactive and active concept, key (concept1, concept2, term1)

with retired as (
    select
        d.concept_id,
        t.node_id,
        min(t.term) as term
    from naming as d
    inner join concept as c on d.concept_id = c.concept_id
    inner join term as t on d.term = t.term
    where
        d.gives_term
        and not c.active
    group by
        d.concept_id,
        t.node_id
),

joined as (
    select
        source_id,
        target_id
    from association
    where active
    union
    select
        target_id as source_id,
        source_id as target_id
    from association
    where active
)

select
    'retired_name' as kind,
    r.concept_id as concept1,
    r.term as term1,
    n.concept_id as concept2,
    min(t.term) as term2,
    0 as distance
from retired as r
inner join name as n on r.node_id = n.node_id
inner join term as t on n.term_id = t.term_id
anti join joined as j
    on
        r.concept_id = j.source_id
        and n.concept_id = j.target_id
group by
    r.concept_id,
    r.term,
    n.concept_id
order by
    term1,
    term2,
    concept1,
    concept2;
