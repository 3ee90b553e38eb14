-- The pairs that only one of two builds has, in the same dataset and, for negatives, of the same
-- strategy.
--
-- A pair in the other direction is the same pair. If a build has a pair in several sets, this is
-- the first by difficulty and pair_id. Positives are the same in the sets of every strategy, so
-- those of one strategy are read. Those of parent_child are left out, since relationships are
-- compared on their own.
--
-- reads   old_pair, new_pair, release_concept, strategy: negatives, of both builds
-- writes  a row per dataset and pair, key (dataset, negatives, pair_id); negatives is null for a
--         positive

with pair as (
    select
        false as is_new,
        p.dataset,
        case when p.label = 0 then p.negatives end as negatives,
        p.difficulty,
        p.pair_id,
        p.term1,
        p.term2,
        p.distance,
        p.concept1,
        p.concept2
    from old_pair as p
    where
        p.dataset <> 'parent_child'
        and case
            when p.label = 0 then p.negatives in (from strategy)
            else p.negatives = (select min(o.negatives) from old_pair as o)
        end
    union all
    select
        true as is_new,
        p.dataset,
        case when p.label = 0 then p.negatives end as negatives,
        p.difficulty,
        p.pair_id,
        p.term1,
        p.term2,
        p.distance,
        p.concept1,
        p.concept2
    from new_pair as p
    where
        p.dataset <> 'parent_child'
        and case
            when p.label = 0 then p.negatives in (from strategy)
            else p.negatives = (select min(o.negatives) from new_pair as o)
        end
),

changed as (
    select
        dataset,
        negatives,
        min(difficulty || pair_id) as first_pair
    from pair
    group by
        dataset,
        negatives,
        least(term1, term2),
        greatest(term1, term2)
    having bool_and(is_new) = bool_or(is_new)
)

select
    case when p.is_new then 'gained' else 'lost' end as change,
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id,
    p.term1,
    p.term2,
    p.distance,
    p.concept1,
    p.concept2,
    coalesce(c.kept and d.kept, false) as kept
from pair as p
semi join changed as one
    on
        p.dataset = one.dataset
        and p.negatives is not distinct from one.negatives
        and p.difficulty || p.pair_id = one.first_pair
left join release_concept as c on p.concept1 = c.concept_id
left join release_concept as d on p.concept2 = d.concept_id
order by
    p.dataset,
    p.negatives,
    change,
    p.pair_id;
