-- Whether all names of concepts, or all synonyms, stand in quotes, which no export of Athena has.
--
-- reads   omop_concept, omop_synonym
-- writes  one row: concept_name, concept_synonym_name

with name as (
    select coalesce(bool_and(prefix(term, '"') and suffix(term, '"')), false) as is_quoted
    from omop_concept
    where length(term) > 1
),

synonym as (
    select coalesce(bool_and(prefix(term, '"') and suffix(term, '"')), false) as is_quoted
    from omop_synonym
    where length(term) > 1
)

select
    n.is_quoted as concept_name,
    s.is_quoted as concept_synonym_name
from name as n
cross join synonym as s;
