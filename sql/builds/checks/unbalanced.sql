-- A first term has at most as many negatives as positives.
--
-- reads   checked_pair
-- writes  the negatives of first terms that violate this

with unbalanced as (
    select
        set_id,
        term1_id
    from checked_pair()
    group by all
    having 2 * count(*) filter (where label = 0) > count(*)
)

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from checked_pair() as p
semi join unbalanced as u
    on
        p.set_id = u.set_id
        and p.term1_id = u.term1_id
where p.label = 0
order by all;
