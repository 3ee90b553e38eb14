-- The second term of a negative is a term of the set's positives, or of the pool of all sets.
--
-- reads   checked_pair, pool
-- writes  the rows that violate this

with own_term as (
    select
        set_id,
        unnest([term1_id, term2_id]) as term_id
    from checked_pair()
    where label = 1
)

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from checked_pair() as p
anti join own_term as o
    on
        p.set_id = o.set_id
        and p.term2_id = o.term_id
anti join pool as l on p.term2_id = l.term_id
where p.label = 0
order by all;
