-- The rows of CONCEPT_RELATIONSHIP.csv that the canonical tables can represent.
--
-- A mapping leads to a concept of the same meaning, or to a broader one if there is none, so both
-- concepts are possibly equivalent.
--
-- reads   $stream: the text of the file without its header line, lines ended by line feeds
-- writes  omop_relation: a row per relationship of two concepts
-- params  $stream text: where the text can be read once
--         $columns text: the names of the file's columns, with spaces between them
-- cites   OMOP Common Data Model 5.4, CONCEPT_RELATIONSHIP

create or replace table omop_relation as

select
    omop_id(concept_id_1) as source_id,
    omop_id(concept_id_2) as target_id,
    case relationship_id
        when 'Is a' then 'is_a'
        when 'Maps to' then 'possibly_equivalent_to'
        when 'Concept replaced by' then 'replaced_by'
        when 'Concept same_as to' then 'same_as'
        when 'Concept poss_eq to' then 'possibly_equivalent_to'
    end as kind,
    omop_flag(invalid_reason) = '' as active
from delimited_rows($stream, '\t', $columns)
where
    case
        when omop_id(concept_id_1) = omop_id(concept_id_2) then false
        when omop_flag(invalid_reason) is null then false
        else kind is not null
    end;
