-- Within a set a pair appears once and in one direction.
--
-- reads   checked_pair
-- writes  the rows that violate this

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from checked_pair() as p
qualify count(*) over (partition by p.set_id, p.low_id, p.high_id) > 1
order by all;
