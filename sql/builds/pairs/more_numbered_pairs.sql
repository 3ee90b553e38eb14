-- The pairs of one more set.
--
-- reads   more_pairs: the columns of numbered_pair
-- writes  numbered_pair: their rows

insert into numbered_pair by name
from more_pairs;
