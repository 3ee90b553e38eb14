-- A negative has the first concept of a positive with the same first term, and of the
-- concepts with the second term its second concept has the smallest identifier.
--
-- The first term of a minimal negative may be the second of a positive.
--
-- reads   numbered_pair, pair_set, numbered_bearer
-- writes  the rows that violate this

with negative as (
    select
        set_id,
        row,
        term1_id,
        term2_id,
        concept1,
        concept2
    from numbered_pair
    where label = 0
),

positive as (
    select
        set_id,
        term1_id,
        concept1
    from numbered_pair
    where label = 1
    union
    select
        p.set_id,
        p.term2_id as term1_id,
        p.concept2 as concept1
    from numbered_pair as p
    inner join pair_set as s on p.set_id = s.set_id
    where
        p.label = 1
        and s.negatives = 'minimal'
)

select
    n.set_id,
    n.row
from negative as n
anti join positive as p
    on
        n.set_id = p.set_id
        and n.term1_id = p.term1_id
        and n.concept1 = p.concept1
union
select
    n.set_id,
    n.row
from negative as n
anti join numbered_bearer as b
    on
        n.term2_id = b.term_id
        and n.concept2 = b.concept_number
order by
    set_id,
    row;
