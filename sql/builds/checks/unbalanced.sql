-- A first term has at most as many negatives as positives.
--
-- reads   numbered_pair, pair_set
-- writes  the negatives of first terms that violate this

with unbalanced as (
    select
        set_id,
        term1_id
    from numbered_pair
    group by
        set_id,
        term1_id
    having 2 * count(*) filter (where label = 0) > count(*)
)

select
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id
from numbered_pair as p
inner join pair_set as s on p.set_id = s.set_id
semi join unbalanced as u
    on
        p.set_id = u.set_id
        and p.term1_id = u.term1_id
where p.label = 0
order by
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id;
