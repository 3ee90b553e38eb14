-- The rows of CONCEPT.csv: concepts of all vocabularies, each with its name and its code.
--
-- reads   $stream: the text of the file without its header line, lines ended by line feeds
-- writes  omop_concept: a row per concept; the key is concept_id unless the file repeats concepts
-- params  $stream text: where the text can be read once
--         $columns text: the names of the file's columns, with spaces between them

create or replace table omop_concept as

select
    omop_id(concept_id) as concept_id,
    trimmed(omop_text(concept_name)) as term,
    omop_text(domain_id) as domain,
    omop_text(vocabulary_id) as vocabulary,
    omop_text(concept_code) as code,
    omop_flag(standard_concept) = 'S' as standard,
    omop_flag(invalid_reason) = '' as active
from delimited_rows($stream, '\t', $columns);
