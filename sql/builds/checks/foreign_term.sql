-- The second term of a negative is in the set's positives or in the pool of all sets.
--
-- reads   numbered_pair, pool
-- writes  the rows that violate this

with outside as (
    select
        p.set_id,
        p.row,
        p.term2_id
    from numbered_pair as p
    anti join pool as l on p.term2_id = l.term_id
    where p.label = 0
),

set_term as (
    select
        set_id,
        term1_id as term_id
    from numbered_pair
    where label = 1
    union all
    select
        set_id,
        term2_id as term_id
    from numbered_pair
    where label = 1
)

select
    p.set_id,
    p.row
from outside as p
anti join set_term as o
    on
        p.set_id = o.set_id
        and p.term2_id = o.term_id
order by
    p.set_id,
    p.row;
