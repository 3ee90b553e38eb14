-- The codes of active concepts in their vocabularies, except codes of OMOP's own concepts.
--
-- reads   omop_kept
-- writes  code: a row per concept, vocabulary and code, key all of them

create or replace table code as

select
    concept_id::varchar as concept_id,
    omop_vocabulary(vocabulary) as vocabulary,
    code
from omop_kept
where
    active
    and code <> ''
    and not starts_with(code, 'OMOP')
    and vocabulary <> 'None'
order by all;
