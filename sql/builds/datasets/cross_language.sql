-- Pairs of two names of the same concept in two different languages.
--
-- The first name is in the language that the build names first. Only builds in several languages
-- have the dataset. A main name from another language is left out.
--
-- reads   name, naming, translation
-- writes  cross_language: candidate pairs, a row per concept and two of its names
-- order   6

create or replace table cross_language as

with standing_in as (
    select concept_id
    from naming
    where
        kind = 'fsn'
        and language_number = 0
        and stands_in(description_id)
),

spelt as (
    select
        n.concept_id,
        0 as language_number,
        n.term_id,
        n.node_id
    from name as n
    anti join standing_in as s
        on
            n.concept_id = s.concept_id
            and n.is_fsn
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
