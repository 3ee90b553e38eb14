-- No negative of a strategy appears in two sets in either direction, but for those of a dataset
-- and of one that it contains.
--
-- reads   pair
-- writes  the later rows that violate this

with negative as (
    select
        dataset,
        difficulty,
        negatives,
        pair_id,
        least(term1, term2) as low,
        greatest(term1, term2) as high
    from pair
    where label = 0
)

select distinct
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from negative as p
inner join negative as q
    on
        p.negatives = q.negatives
        and p.low = q.low
        and p.high = q.high
where
    (p.dataset, p.difficulty) > (q.dataset, q.difficulty)
    and not (p.dataset = 'syn_syn' and q.dataset = 'fsn_syn')
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
