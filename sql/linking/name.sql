-- The distinct names of the terminology, ignoring case, in order of text.
--
-- reads   entry: a row per name and concept: lower_term, term, concept_id
-- writes  name: a row per name with its first spelling, key name_id

create or replace table name as

select
    cast(row_number() over (order by lower_term) - 1 as integer) as name_id,
    lower_term,
    min(term) as term,
    count(distinct concept_id) as n_concepts
from entry
group by lower_term
order by name_id;
