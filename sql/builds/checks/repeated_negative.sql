-- No two sets of a strategy share a negative in either direction, unless one dataset contains the
-- other.
--
-- Minimal negatives are all there are, so sets may share them.
--
-- reads   numbered_pair, pair_set, dataset
-- writes  the later rows that violate this

with negative as (
    select
        s.dataset,
        s.difficulty,
        s.negatives,
        p.set_id,
        p.row,
        least(p.term1_id, p.term2_id) as low_id,
        greatest(p.term1_id, p.term2_id) as high_id
    from numbered_pair as p
    inner join pair_set as s on p.set_id = s.set_id
    where
        p.label = 0
        and s.negatives <> 'minimal'
)

select distinct
    p.set_id,
    p.row
from negative as p
inner join negative as q
    on
        p.negatives = q.negatives
        and p.low_id = q.low_id
        and p.high_id = q.high_id
left join dataset as d on p.dataset = d.name
where
    (p.dataset, p.difficulty) > (q.dataset, q.difficulty)
    and not coalesce(list_contains(d.contains, q.dataset), false)
order by
    p.set_id,
    p.row;
