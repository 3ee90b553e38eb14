-- No negative of a strategy appears in two sets in either direction, but for those of a dataset
-- and of one that it contains.
--
-- reads   numbered_pair, pair_set
-- writes  the later rows that violate this

with negative as (
    select
        s.dataset,
        s.difficulty,
        s.negatives,
        p.pair_id,
        least(p.term1_id, p.term2_id) as low,
        greatest(p.term1_id, p.term2_id) as high
    from numbered_pair as p
    inner join pair_set as s on p.set_id = s.set_id
    where p.label = 0
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
