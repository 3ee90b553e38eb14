-- The second term of a negative is in the set's positives or in the pool of all sets.
--
-- Across languages, it is a second term of positives in the same languages, or in the pool of its
-- language. That of a minimal negative is a name of any active concept, or a term of positives.
--
-- reads   numbered_pair, pair_set, numbered_name, pool
-- writes  the rows that violate this

with outside as (
    select
        p.set_id,
        p.row,
        p.term2_id,
        p.language1,
        p.language2
    from numbered_pair as p
    anti join pool as l
        on
            p.term2_id = l.term_id
            and p.language2 is not distinct from l.language_number
    where p.label = 0
),

set_term as (
    select
        set_id,
        language1,
        language2,
        term1_id as term_id
    from numbered_pair
    where
        label = 1
        and language1 is null
    union all
    select
        set_id,
        language1,
        language2,
        term2_id as term_id
    from numbered_pair
    where label = 1
),

any_term as (
    select term_id
    from numbered_name
    union
    select term_id
    from set_term
)

select
    p.set_id,
    p.row
from outside as p
inner join pair_set as s on p.set_id = s.set_id
anti join set_term as o
    on
        p.set_id = o.set_id
        and p.term2_id = o.term_id
        and p.language1 is not distinct from o.language1
        and p.language2 is not distinct from o.language2
anti join any_term as a
    on
        p.term2_id = a.term_id
        and s.negatives = 'minimal'
order by
    p.set_id,
    p.row;
