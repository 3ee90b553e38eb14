-- Within a set a pair appears once and in one direction.
--
-- reads   pair
-- writes  the rows that violate this

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from pair as p
qualify
    count(*) over (
        partition by
            p.dataset,
            p.difficulty,
            p.negatives,
            least(p.term1, p.term2),
            greatest(p.term1, p.term2)
    ) > 1
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
