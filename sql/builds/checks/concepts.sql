-- A negative's first concept is that of a positive with the same first term, and its second the
-- smallest that bears the second term.
--
-- reads   checked_pair, bearer
-- writes  the rows that violate this

with first_concept as (
    select distinct
        set_id,
        term1_id,
        concept1
    from checked_pair()
    where label = 1
)

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from checked_pair() as p
left join first_concept as f
    on
        p.set_id = f.set_id
        and p.term1_id = f.term1_id
        and p.concept1 = f.concept1
left join bearer as b on p.term2_id = b.term_id
where
    p.label = 0
    and (f.concept1 is null or p.concept2 is distinct from b.concept_id)
order by all;
