-- Pairs of two names of the same concept in two different languages.
--
-- The first name is in the language that the build names first. Only builds in several languages
-- have the dataset.
--
-- reads   name, translation
-- writes  cross_language: candidate pairs, a row per concept and two of its names
-- order   6

create or replace table cross_language as

with spelt as (
    select
        concept_id,
        0 as language_number,
        term_id,
        node_id
    from name
    union all
    select
        concept_id,
        language_number,
        term_id,
        node_id
    from translation
)

select
    earlier.term_id as term1_id,
    later.term_id as term2_id,
    earlier.node_id as node1_id,
    later.node_id as node2_id,
    earlier.concept_id as concept1,
    later.concept_id as concept2,
    earlier.language_number as language1,
    later.language_number as language2
from spelt as earlier
inner join spelt as later
    on
        earlier.concept_id = later.concept_id
        and earlier.language_number < later.language_number;
