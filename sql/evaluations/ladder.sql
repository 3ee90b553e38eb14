-- The pairs of each child's main name with names on the rungs of a ladder of meaning: synonyms,
-- parents, a grandparent, a sibling, and unrelated names.
--
-- Synonyms are positives of syn_syn, parents positives of parent_child, and unrelated names its
-- random negatives. A grandparent is a parent of a parent, but not itself a parent. A sibling is
-- the next child of a parent, in an order by hashes, but not an ancestor or a descendant. Of
-- several grandparents or siblings that with the smallest hash is taken. A pair is on one rung, the
-- first.
--
-- reads   pair, name, term, is_a, described_concept, ancestor
-- writes  a row per pair, key pair_id: term1, term2, and the columns of its set; the difficulty is
--         all, and negatives is its rung

with main as (
    select
        n.concept_id,
        n.node_id,
        t.term,
        c.concept_number
    from name as n
    inner join term as t on n.term_id = t.term_id
    inner join described_concept as c on n.concept_id = c.concept_id
    where n.is_fsn
),

edge as (
    select
        i.child_id,
        i.parent_id
    from is_a as i
    semi join main as c on i.child_id = c.concept_id
    semi join main as p on i.parent_id = p.concept_id
),

parent as (
    select distinct
        term1,
        term2,
        concept1
    from pair
    where
        dataset = 'parent_child'
        and label = 1
),

next_child as (
    select
        child_id,
        parent_id,
        coalesce(
            lead(child_id) over by_hash,
            first(child_id) over by_hash
        ) as sibling_id
    from edge
    window by_hash as (partition by parent_id order by md5(child_id), child_id)
),

relative as (
    select
        'grandparent' as rung,
        lower.child_id as concept_id,
        upper.parent_id as relative_id
    from edge as lower
    inner join edge as upper on lower.parent_id = upper.child_id
    anti join edge as p
        on
            lower.child_id = p.child_id
            and upper.parent_id = p.parent_id
    union
    select
        'sibling' as rung,
        child_id as concept_id,
        sibling_id as relative_id
    from next_child
),

told_apart as (
    select
        r.rung,
        c.term as term1,
        o.term as term2
    from relative as r
    inner join main as c on r.concept_id = c.concept_id
    inner join main as o on r.relative_id = o.concept_id
    anti join ancestor as a
        on
            r.rung = 'sibling'
            and c.concept_number = a.concept_number
            and o.concept_number = a.ancestor_number
    anti join ancestor as d
        on
            r.rung = 'sibling'
            and o.concept_number = d.concept_number
            and c.concept_number = d.ancestor_number
    semi join parent as p on c.term = p.term1
    where c.node_id <> o.node_id
),

relative_pair as (
    select
        rung,
        term1,
        term2
    from told_apart
    qualify
        row_number() over (
            partition by
                rung,
                term1
            order by
                md5(term1 || '/' || term2),
                term2
        ) = 1
),

rung_pair as (
    select
        1 as place,
        'synonym' as rung,
        term1,
        term2
    from pair
    where
        dataset = 'syn_syn'
        and label = 1
    union all
    select
        2 as place,
        'parent' as rung,
        term1,
        term2
    from parent
    union all
    select
        case rung when 'grandparent' then 3 else 4 end as place,
        rung,
        term1,
        term2
    from relative_pair
    union all
    select
        5 as place,
        'unrelated' as rung,
        term1,
        term2
    from pair
    where
        dataset = 'parent_child'
        and label = 0
        and negatives = 'random'
)

select
    id_of_pair(r.term1, r.term2) as pair_id,
    r.term1,
    r.term2,
    'parent_child' as dataset,
    'all' as difficulty,
    arg_min(r.rung, r.place) as negatives
from rung_pair as r
semi join parent as p on r.term1 = p.term1
group by
    r.term1,
    r.term2
order by pair_id;
