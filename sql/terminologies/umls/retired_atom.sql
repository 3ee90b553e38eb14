-- The names of concepts that RxNorm has no longer, added to its atoms as obsolete ones.
--
-- reads   archived_atom, umls_atom
-- writes  umls_atom: more rows, key atom_id

insert into umls_atom

select
    a.atom_id,
    a.concept_id,
    a.language,
    a.vocabulary,
    a.code,
    a.term,
    a.place,
    'O' as suppressed
from archived_atom as a
anti join umls_atom as own on a.concept_id = own.concept_id
anti join umls_atom as same on a.atom_id = same.atom_id;
