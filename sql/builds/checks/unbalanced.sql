-- A first term has at most as many negatives as positives.
--
-- reads   numbered_pair
-- writes  the negatives of first terms that violate this

with unbalanced as (
    select
        set_id,
        term1_id
    from numbered_pair
    group by all
    having 2 * count(*) filter (where label = 0) > count(*)
)

select
    p.set_id,
    p.row
from numbered_pair as p
semi join unbalanced as u
    on
        p.set_id = u.set_id
        and p.term1_id = u.term1_id
where p.label = 0
order by
    p.set_id,
    p.row;
