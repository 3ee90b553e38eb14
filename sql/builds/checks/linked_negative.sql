-- No chain of positives joins the terms of a negative.
--
-- reads   checked_pair, term_component
-- writes  the rows that violate this

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from checked_pair() as p
inner join term_component as c1 on p.term1_id = c1.term_id
inner join term_component as c2 on p.term2_id = c2.term_id
where
    p.label = 0
    and c1.component_id = c2.component_id
order by all;
