-- The rows of CONCEPT_ANCESTOR.csv whose ancestor is a parent.
--
-- reads   $stream: the text of the file without its header line, lines ended by line feeds
-- writes  omop_ancestor: a row per child and parent
-- params  $stream text: where the text can be read once
--         $columns text: the names of the file's columns, with spaces between them

create or replace table omop_ancestor as

select
    omop_id(descendant_concept_id) as child_id,
    omop_id(ancestor_concept_id) as parent_id
from delimited_rows($stream, '\t', $columns)
where
    case
        when omop_id(descendant_concept_id) = omop_id(ancestor_concept_id) then false
        else omop_id(min_levels_of_separation) = 1
    end;
