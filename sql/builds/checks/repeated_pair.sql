-- Within a set a pair appears once and in one direction.
--
-- reads   checked_pair
-- writes  the rows that violate this

with repeated as (
    select
        set_id,
        low_id,
        high_id
    from checked_pair()
    group by all
    having count(*) > 1
)

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from checked_pair() as p
semi join repeated as r
    on
        p.set_id = r.set_id
        and p.low_id = r.low_id
        and p.high_id = r.high_id
order by all;
