-- The pairs that only one of two builds has, in the same dataset and, for negatives, of the same
-- strategy.
--
-- A pair in the other direction is the same pair.
--
-- reads   old_pair, new_pair, release_concept, strategy: negatives, of both builds
-- writes  a row per dataset and pair, key (dataset, negatives, pair_id); negatives is null for a
--         positive

with pair as (
    select
        false as is_new,
        dataset,
        case when label = 0 then negatives end as negatives,
        difficulty,
        pair_id,
        term1,
        term2,
        distance,
        concept1,
        concept2
    from old_pair
    where
        label = 1
        or negatives in (from strategy)
    union all
    select
        true as is_new,
        dataset,
        case when label = 0 then negatives end as negatives,
        difficulty,
        pair_id,
        term1,
        term2,
        distance,
        concept1,
        concept2
    from new_pair
    where
        label = 1
        or negatives in (from strategy)
),

changed as (
    select
        dataset,
        negatives,
        min(
            {
                'difficulty': difficulty,
                'pair_id': pair_id,
                'term1': term1,
                'term2': term2,
                'distance': distance,
                'concept1': concept1,
                'concept2': concept2
            }
        ) as one,
        bool_and(is_new) as is_gained
    from pair
    group by
        dataset,
        negatives,
        least(term1, term2),
        greatest(term1, term2)
    having count(distinct is_new) = 1
)

select
    case when p.is_gained then 'gained' else 'lost' end as change,
    p.dataset,
    p.one.difficulty,
    p.negatives,
    p.one.pair_id,
    p.one.term1,
    p.one.term2,
    p.one.distance,
    p.one.concept1,
    p.one.concept2,
    coalesce(c.kept and d.kept, false) as kept
from changed as p
left join release_concept as c on p.one.concept1 = c.concept_id
left join release_concept as d on p.one.concept2 = d.concept_id
order by
    p.dataset,
    p.negatives,
    change,
    p.one.pair_id;
