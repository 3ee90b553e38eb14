-- The two terms of a pair differ when case is ignored, and both are in the terminology.
--
-- reads   numbered_pair
-- writes  the rows that violate this

select
    set_id,
    row
from numbered_pair
where has_equal_terms is not false
order by
    set_id,
    row;
