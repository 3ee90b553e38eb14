-- The second term of a negative is a term of the set's positives, or of the pool of all sets.
--
-- reads   pair, pool, term
-- writes  the rows that violate this

with own_term as (
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
),

shared_term as (
    select t.term
    from pool as o
    inner join term as t on o.term_id = t.term_id
)

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from pair as p
anti join own_term as o
    on
        p.dataset = o.dataset
        and p.difficulty = o.difficulty
        and p.negatives = o.negatives
        and p.term2 = o.term
anti join shared_term as s on p.term2 = s.term
where p.label = 0
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
