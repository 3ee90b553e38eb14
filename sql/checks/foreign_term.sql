-- The second term of a negative is a term of the set's positives.
--
-- reads   pair
-- writes  the rows that violate this

with pool as (
    select
        dataset,
        difficulty,
        negatives,
        term1 as term
    from pair
    where label = 1
    union
    select
        dataset,
        difficulty,
        negatives,
        term2 as term
    from pair
    where label = 1
)

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from pair as p
anti join pool as o
    on
        p.dataset = o.dataset
        and p.difficulty = o.difficulty
        and p.negatives = o.negatives
        and p.term2 = o.term
where p.label = 0
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
