-- No chain of positives links the two terms of a negative.
--
-- reads   numbered_pair
-- writes  the rows that violate this

select
    set_id,
    row
from numbered_pair
where
    label = 0
    and is_linked
order by
    set_id,
    row;
