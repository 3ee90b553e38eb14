-- The rows of the descriptions of a dialect.
--
-- reads   rf2_description: full history or snapshot, key (id, effective_time)
--         dialect_name
-- writes  rf2_description: the same table, with only the descriptions of the dialect

create or replace table rf2_description as

select
    d.id,
    d.effective_time,
    d.active,
    d.concept_id,
    d.language,
    d.type_id,
    d.term
from rf2_description as d
semi join dialect_name as n on d.id = n.description_id;
