-- Within a set a pair appears once and in one direction.
--
-- reads   numbered_pair, pair_set
-- writes  the rows that violate this

with repeated as (
    select
        set_id,
        least(term1_id, term2_id) as low,
        greatest(term1_id, term2_id) as high
    from numbered_pair
    group by
        set_id,
        low,
        high
    having count(*) > 1
)

select
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id
from numbered_pair as p
inner join pair_set as s on p.set_id = s.set_id
semi join repeated as r
    on
        p.set_id = r.set_id
        and least(p.term1_id, p.term2_id) = r.low
        and greatest(p.term1_id, p.term2_id) = r.high
order by
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id;
