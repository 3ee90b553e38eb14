-- A first term has at most as many negatives as positives, except minimal ones.
--
-- reads   numbered_pair, pair_set
-- writes  the negatives of first terms that violate this

with unbalanced as (
    select
        p.set_id,
        p.term1_id
    from numbered_pair as p
    inner join pair_set as s on p.set_id = s.set_id
    where s.negatives <> 'minimal'
    group by all
    having 2 * count(*) filter (where p.label = 0) > count(*)
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
