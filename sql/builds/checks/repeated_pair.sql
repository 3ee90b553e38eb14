-- A set has each pair only once and in one direction.
--
-- reads   numbered_pair
-- writes  the rows that violate this

with known as (
    select
        set_id,
        row,
        least(term1_id, term2_id) as low_id,
        greatest(term1_id, term2_id) as high_id
    from numbered_pair
    where has_equal_terms is not null
),

repeated as (
    select
        set_id,
        low_id,
        high_id
    from known
    group by all
    having count(*) > 1
)

select
    p.set_id,
    p.row
from known as p
semi join repeated as r
    on
        p.set_id = r.set_id
        and p.low_id = r.low_id
        and p.high_id = r.high_id
order by
    p.set_id,
    p.row;
