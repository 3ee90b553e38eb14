-- Every distinct text that can be a term of a pair.
--
-- reads   naming, substitution_name
-- writes  a row per text, key term

with spelling as (
    select term
    from naming
    where gives_term
    union
    select term
    from substitution_name
    where is_marked
)

select term
from spelling
order by term;
