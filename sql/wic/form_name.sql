-- The concepts of the terminology that bear a form as a name, ignoring case.
--
-- reads   description, concept
--         spelled: the texts of names that are a form in lower case, key term
-- writes  form_name: a row per form and concept, key (form_id, concept_id)
-- params  $language text: the language of the names

create or replace table form_name as

select distinct
    s.form_id,
    d.concept_id
from description as d
inner join concept as c on d.concept_id = c.concept_id
inner join spelled as s on d.term = s.term
where
    d.active
    and c.active
    and d.language = $language
order by
    s.form_id,
    d.concept_id;
