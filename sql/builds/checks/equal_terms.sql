-- The terms of a pair differ when case is ignored, and both are terms of the terminology.
--
-- reads   checked_pair
-- writes  the rows that violate this

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from checked_pair() as p
where
    p.node1_id is null
    or p.node2_id is null
    or p.node1_id = p.node2_id
order by all;
