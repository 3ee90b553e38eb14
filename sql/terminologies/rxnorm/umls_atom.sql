-- The atoms of RxNorm, with the names of removed concepts as obsolete atoms.
--
-- reads   umls_atom, archived_atom
-- writes  umls_atom: a row per atom, key atom_id

create or replace table umls_atom as

with retired as (
    select
        a.atom_id,
        a.concept_id,
        a.language,
        a.vocabulary,
        a.code,
        a.term,
        a.place
    from archived_atom as a
    anti join umls_atom as u on a.concept_id = u.concept_id
    anti join umls_atom as same on a.atom_id = same.atom_id
)

select
    atom_id,
    concept_id,
    language,
    vocabulary,
    code,
    term,
    place,
    suppressed
from umls_atom
union all
select
    atom_id,
    concept_id,
    language,
    vocabulary,
    code,
    term,
    place,
    'O' as suppressed
from retired;
