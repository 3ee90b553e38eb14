-- A positive of replaced_by is an active association of that kind, and no pair of syn_syn.
--
-- reads   pair, association
-- writes  the rows that violate this

with synonymous as (
    select distinct
        negatives,
        least(term1, term2) as low,
        greatest(term1, term2) as high
    from pair
    where
        label = 1
        and dataset = 'syn_syn'
)

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from pair as p
left join association as a
    on
        p.concept1 = a.source_id
        and p.concept2 = a.target_id
        and p.dataset = a.kind
        and a.active
left join synonymous as s
    on
        p.negatives = s.negatives
        and least(p.term1, p.term2) = s.low
        and greatest(p.term1, p.term2) = s.high
where
    p.label = 1
    and p.dataset = 'replaced_by'
    and (a.source_id is null or s.low is not null)
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
