-- The names that join two concepts in the largest chains of positives: names that both have, and
-- associations.
--
-- A chain is a connected component with names of at least three concepts. The twenty with the most
-- concepts are listed.
--
-- reads   name, substitution, term, term_component
-- writes  a row per pair of joined concepts, key (concept1, concept2, term1, term2)

with member as (
    select
        c.component_id,
        n.concept_id,
        n.node_id
    from name as n
    inner join term_component as c on n.term_id = c.term_id
    union
    select
        c.component_id,
        s.concept1 as concept_id,
        s.node1_id as node_id
    from substitution as s
    inner join term_component as c on s.term1_id = c.term_id
),

chain as (
    select
        component_id,
        count(distinct concept_id) as n_concepts,
        count(distinct node_id) as n_names
    from member
    group by component_id
    having count(distinct concept_id) > 2
    order by
        n_concepts desc,
        n_names desc,
        component_id asc
    limit 20
),

bearer_of_name as (
    select
        n.node_id,
        n.concept_id,
        c.component_id,
        min(t.term) as term,
        row_number() over (partition by n.node_id order by n.concept_id) as place
    from name as n
    inner join term as t on n.term_id = t.term_id
    inner join term_component as c on n.term_id = c.term_id
    group by
        n.node_id,
        n.concept_id,
        c.component_id
),

joined as (
    select
        a.component_id,
        a.concept_id as concept1,
        b.concept_id as concept2,
        a.term as term1,
        b.term as term2,
        'the same name' as how
    from bearer_of_name as a
    inner join bearer_of_name as b on a.node_id = b.node_id
    where
        a.place = 1
        and b.place > 1
    union all
    select
        c.component_id,
        s.concept1,
        s.concept2,
        t1.term as term1,
        t2.term as term2,
        s.kind as how
    from substitution as s
    inner join term_component as c on s.term1_id = c.term_id
    inner join term as t1 on s.term1_id = t1.term_id
    inner join term as t2 on s.term2_id = t2.term_id
)

select
    'chain' as kind,
    j.concept1,
    j.term1,
    j.concept2,
    j.term2,
    format(
        '{} in a chain of {} names and {} concepts',
        string_agg(distinct j.how, ', ' order by j.how),
        c.n_names,
        c.n_concepts
    ) as detail
from joined as j
inner join chain as c on j.component_id = c.component_id
group by
    j.concept1,
    j.term1,
    j.concept2,
    j.term2,
    c.component_id,
    c.n_names,
    c.n_concepts
order by
    j.term1,
    j.term2,
    j.concept1,
    j.concept2;
