-- The terms of each concept, active or not, as numbers: its names, and its name in associations if
-- that is a different one.
--
-- reads   naming, substitution_name, term
-- writes  named: a row per name, of kind fsn, synonym or substitution

create or replace table named as

with spelt as (
    select
        concept_id,
        kind,
        language_number,
        term
    from naming
    where gives_term
    union all
    select
        concept_id,
        'substitution' as kind,
        0 as language_number,
        term
    from substitution_name
    where is_marked
)

select
    s.concept_id,
    s.kind,
    s.language_number,
    t.term_id,
    t.node_id
from spelt as s
inner join term as t on s.term = t.term;
