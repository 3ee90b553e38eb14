-- Positives with a distance of at most 5 are easy, others are hard, and no distance is below 1.
--
-- reads   numbered_pair, pair_set
-- writes  the rows that violate this

select
    p.set_id,
    p.row
from numbered_pair as p
inner join pair_set as s on p.set_id = s.set_id
where
    p.distance < 1
    or (p.label = 1 and (s.difficulty = 'easy') <> (p.distance <= 5))
order by
    p.set_id,
    p.row;
