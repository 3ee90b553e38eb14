-- Every distinct text that can be a term of a pair.
--
-- reads   description, substitution_name
-- writes  a row per text, key term
-- params  $language text: the language of the names

with spelling as (
    select term
    from description
    where
        active
        and language = $language
    union
    select term
    from substitution_name
    where is_marked
)

select term
from spelling
order by term;
