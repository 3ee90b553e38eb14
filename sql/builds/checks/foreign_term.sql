-- The second term of a negative is a term of the set's positives, or of the pool of all sets.
--
-- reads   numbered_pair, pair_set, pool
-- writes  the rows that violate this

with own_term as (
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
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id
from numbered_pair as p
inner join pair_set as s on p.set_id = s.set_id
anti join own_term as o
    on
        p.set_id = o.set_id
        and p.term2_id = o.term_id
anti join pool as l on p.term2_id = l.term_id
where p.label = 0
order by
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id;
