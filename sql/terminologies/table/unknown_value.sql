-- The first value of a table that is not a known word for its column.
--
-- reads   given
-- writes  at most one row: place, the number of its row; role, its column; value

with stated as (
    select
        place,
        'kind' as role,
        kind as value
    from given
    where
        kind is not null
        and table_kind(kind) is null
    union all
    select
        place,
        'active' as role,
        active as value
    from given
    where
        active is not null
        and table_active(active, false) is null
    union all
    select
        place,
        'obsolete' as role,
        obsolete as value
    from given
    where
        obsolete is not null
        and table_active(obsolete, true) is null
)

select
    place,
    role,
    value
from stated
order by
    place,
    role
limit 1;
