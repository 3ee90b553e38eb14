-- The vocabularies of concepts.
--
-- reads   omop_concept
-- writes  a row per vocabulary, key vocabulary

select distinct vocabulary
from omop_concept
order by vocabulary;
