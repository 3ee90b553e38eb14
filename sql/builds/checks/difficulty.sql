-- A positive is easy if its distance is at most 5, else hard, and no distance is below 1.
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
    p.distance < 1
    or (p.label = 1 and (p.difficulty = 'easy') <> (p.distance <= 5))
order by all;
