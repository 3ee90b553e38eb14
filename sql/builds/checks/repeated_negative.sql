-- No negative of a strategy appears in two sets in either direction, but for those of a dataset
-- and of one that it contains.
--
-- reads   checked_pair, dataset
-- writes  the later rows that violate this

select distinct
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from checked_pair() as p
inner join checked_pair() as q
    on
        p.negatives = q.negatives
        and p.low_id = q.low_id
        and p.high_id = q.high_id
left join dataset as d on p.dataset = d.name
where
    p.label = 0
    and q.label = 0
    and (p.dataset, p.difficulty) > (q.dataset, q.difficulty)
    and not coalesce(list_contains(d.contains, q.dataset), false)
order by all;
