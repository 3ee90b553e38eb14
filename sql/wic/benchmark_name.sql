-- The concepts of the terminology that have a term of a benchmark's mentions as a name.
--
-- reads   form, form_name
-- writes  a row per term in lower case and concept, key (term, concept_id)

select
    f.lower_term as term,
    n.concept_id
from form_name as n
inner join form as f on n.form_id = f.form_id
order by all;
