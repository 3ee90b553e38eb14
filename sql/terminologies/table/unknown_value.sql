-- The first value of a table that is not a known word for its column.
--
-- reads   word
-- writes  at most one row: place, the number of its row; role, its column; value

select
    place,
    role,
    value
from word
where
    role <> 'language'
    and kind is null
    and active is null
order by
    place,
    role
limit 1;
