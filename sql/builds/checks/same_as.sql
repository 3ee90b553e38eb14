-- A positive of same_as is an active association of that kind, and no pair of syn_syn.
--
-- reads   numbered_pair, pair_set, association
-- writes  the rows that violate this

with synonymous as (
    select distinct
        s.negatives,
        least(p.term1_id, p.term2_id) as low,
        greatest(p.term1_id, p.term2_id) as high
    from numbered_pair as p
    inner join pair_set as s on p.set_id = s.set_id
    where
        p.label = 1
        and s.dataset = 'syn_syn'
)

select
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id
from numbered_pair as p
inner join pair_set as s on p.set_id = s.set_id
left join association as a
    on
        p.concept1 = a.source_id
        and p.concept2 = a.target_id
        and s.dataset = a.kind
        and a.active
left join synonymous as y
    on
        s.negatives = y.negatives
        and least(p.term1_id, p.term2_id) = y.low
        and greatest(p.term1_id, p.term2_id) = y.high
where
    p.label = 1
    and s.dataset = 'same_as'
    and (a.source_id is null or y.low is not null)
order by
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id;
