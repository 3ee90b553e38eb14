-- The texts of descriptions that make no term: those that are inactive or in other languages.
--
-- reads   description
-- writes  a row per text, key term
-- params  $language text: the language of the names

select distinct term
from description
where
    not active
    or language <> $language
order by term;
