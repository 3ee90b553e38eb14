-- A positive of cross_language is two names of one active concept in its two languages, and the
-- second term of a negative is a name in the second language.
--
-- A negative has the languages of a positive with the same first term.
--
-- reads   numbered_pair, numbered_name, pair_set
-- writes  the rows that violate this

with pair as (
    select
        p.set_id,
        p.row,
        p.label,
        p.term1_id,
        p.term2_id,
        p.concept1,
        p.concept2,
        p.language1,
        p.language2
    from numbered_pair as p
    inner join pair_set as s on p.set_id = s.set_id
    where s.dataset = 'cross_language'
),

valid as (
    select
        p.set_id,
        p.row
    from pair as p
    inner join numbered_name as f
        on
            p.concept1 = f.concept_number
            and p.term1_id = f.term_id
            and p.language1 = f.language_number
    inner join numbered_name as o
        on
            p.concept2 = o.concept_number
            and p.term2_id = o.term_id
            and p.language2 = o.language_number
    where
        p.label = 1
        and p.concept1 = p.concept2
        and p.language1 < p.language2
    union all
    select
        p.set_id,
        p.row
    from pair as p
    semi join pair as q
        on
            p.set_id = q.set_id
            and p.term1_id = q.term1_id
            and p.language1 = q.language1
            and p.language2 = q.language2
            and q.label = 1
    semi join numbered_name as o
        on
            p.term2_id = o.term_id
            and p.language2 = o.language_number
    where p.label = 0
)

select
    p.set_id,
    p.row
from pair as p
anti join valid as v
    on
        p.set_id = v.set_id
        and p.row = v.row
order by
    p.set_id,
    p.row;
