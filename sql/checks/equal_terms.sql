-- The terms of a pair differ when case is ignored, and both are terms of the terminology.
--
-- reads   pair, term
-- writes  the rows that violate this

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from pair as p
left join term as t1 on p.term1 = t1.term
left join term as t2 on p.term2 = t2.term
where
    t1.node_id is null
    or t2.node_id is null
    or t1.node_id = t2.node_id
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
