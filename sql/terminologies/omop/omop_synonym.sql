-- The rows of CONCEPT_SYNONYM.csv: further names of concepts.
--
-- reads   $stream: the text of the file without its header line, lines ended by line feeds
-- writes  omop_synonym: a row per name; language_id is a concept
-- params  $stream text: where the text can be read once
--         $columns text: the names of the file's columns, with spaces between them

create or replace table omop_synonym as

select
    omop_id(concept_id) as concept_id,
    omop_id(language_concept_id) as language_id,
    trimmed(omop_text(concept_synonym_name)) as term
from delimited_rows($stream, '\t', $columns);
