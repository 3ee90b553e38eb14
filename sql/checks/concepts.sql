-- A negative's first concept is that of a positive with the same first term, and its second the
-- smallest that bears the second term.
--
-- reads   pair, term, bearer
-- writes  the rows that violate this

with first_concept as (
    select distinct
        dataset,
        difficulty,
        negatives,
        term1,
        concept1
    from pair
    where label = 1
)

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from pair as p
left join first_concept as f
    on
        p.dataset = f.dataset
        and p.difficulty = f.difficulty
        and p.negatives = f.negatives
        and p.term1 = f.term1
        and p.concept1 = f.concept1
left join term as t on p.term2 = t.term
left join bearer as b on t.term_id = b.term_id
where
    p.label = 0
    and (f.concept1 is null or p.concept2 is distinct from b.concept_id)
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
