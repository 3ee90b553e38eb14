-- The smallest id among the concepts that bear a term, active or not.
--
-- reads   description, substitution_name, term
-- writes  bearer: a row per term, key term_id
-- params  $language text: the language of the names

create or replace table bearer as

with borne as (
    select
        term,
        concept_id
    from description
    where
        active
        and language = $language
    union all
    select
        term,
        concept_id
    from substitution_name
)

select
    t.term_id,
    min(b.concept_id) as concept_id
from borne as b
inner join term as t on b.term = t.term
group by t.term_id
order by t.term_id;
