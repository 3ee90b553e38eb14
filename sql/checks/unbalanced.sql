-- A first term has at most as many negatives as positives.
--
-- reads   pair
-- writes  the negatives of first terms that violate this

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from pair as p
window
    first_term as (
        partition by
            p.dataset,
            p.difficulty,
            p.negatives,
            p.term1
    )
qualify
    p.label = 0
    and 2 * count(*) filter (where p.label = 0) over first_term
    > count(*) over first_term
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
