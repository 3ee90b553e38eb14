-- The vocabularies of atoms.
--
-- reads   umls_atom
-- writes  a row per vocabulary, key vocabulary

select distinct vocabulary
from umls_atom
order by vocabulary;
