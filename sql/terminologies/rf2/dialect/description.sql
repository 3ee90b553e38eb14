-- The names of concepts, and whether each is the dialect's preferred name of its concept and kind.
--
-- reads   description, dialect_name
-- writes  description: the same rows with the column preferred, key description_id

create or replace table description as

select
    d.description_id,
    d.concept_id,
    d.term,
    d.kind,
    d.active,
    d.language,
    d.effective_time,
    n.preferred
from description as d
inner join dialect_name as n on d.description_id = n.description_id
order by d.description_id;
