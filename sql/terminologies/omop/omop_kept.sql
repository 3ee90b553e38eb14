-- The concepts of the chosen vocabularies.
--
-- reads   omop_concept
-- writes  omop_kept: a row per concept, key concept_id
-- params  $vocabularies text: the vocabularies, separated by commas; empty takes all
--         $standard boolean: whether to take only standard concepts

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
