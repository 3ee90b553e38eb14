-- No chain of positives joins the terms of a negative.
--
-- reads   pair, term, term_component
-- writes  the rows that violate this

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from pair as p
inner join term as t1 on p.term1 = t1.term
inner join term as t2 on p.term2 = t2.term
inner join term_component as c1 on t1.term_id = c1.term_id
inner join term_component as c2 on t2.term_id = c2.term_id
where
    p.label = 0
    and c1.component_id = c2.component_id
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
