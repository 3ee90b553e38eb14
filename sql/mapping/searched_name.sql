-- The names of the standard, the main name of every concept before all others.
--
-- reads   standard_name
-- writes  rows of concept_id and term, key (concept_id, term)

select
    concept_id,
    term
from standard_name
order by
    row_number() over (partition by concept_id order by is_main desc, term asc) > 1,
    concept_id,
    term;
