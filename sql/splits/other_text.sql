-- The texts of descriptions that make no term: those that are inactive or in other languages.
--
-- reads   naming
-- writes  a row per text, key term

select distinct term
from naming
where not gives_term
order by term;
