-- The concepts that are asked for.
--
-- reads   omop_concept
-- writes  omop_kept: a row per concept, key concept_id
-- params  $vocabularies text: those of the concepts, with commas between them; empty takes all
--         $standard boolean: whether only standard concepts are taken

create or replace table omop_kept as

select
    concept_id,
    term,
    domain,
    vocabulary,
    code,
    active
from omop_concept
where
    ($vocabularies = '' or list_contains(string_split($vocabularies, ','), vocabulary))
    and (standard or not $standard);
