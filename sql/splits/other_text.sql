-- The texts of descriptions that are not terms: inactive ones, and those in other languages.
--
-- reads   naming
-- writes  a row per text, key term

select distinct term
from naming
where not gives_term
order by term;
