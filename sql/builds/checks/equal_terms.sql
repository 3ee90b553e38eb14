-- The terms of a pair differ when case is ignored, and both are terms of the terminology.
--
-- reads   numbered_pair, pair_set
-- writes  the rows that violate this

select
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id
from numbered_pair as p
inner join pair_set as s on p.set_id = s.set_id
where
    p.node1_id is null
    or p.node2_id is null
    or p.node1_id = p.node2_id
order by
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id;
