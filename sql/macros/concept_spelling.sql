-- An identifier in one spelling for different programs.
--
-- It is hp0001250 for HP:0001250, hp_0001250 and http://purl.obolibrary.org/obo/HP_0001250, and 12
-- for 12.0.
--
-- writes  macro concept_spelling(concept)

create or replace macro concept_spelling(concept) as
lower(
    regexp_replace(
        regexp_replace(concept, '^(\d+)\.0$|^https?://.*[/#]([^/#]+)$', '\1\2'),
        '^([A-Za-z]+)[:_]',
        '\1'
    )
);
