-- Atoms as names of concepts, with the reason if an atom is left out.
--
-- Obsolete atoms are left out, except those of inactive concepts, which have no other names.
--
-- reads   umls_atom, concept
-- writes  umls_name: a row per atom, key atom_id; reason is null if the atom is kept
-- params  $vocabularies text: vocabularies whose names count, separated by commas; empty takes all

create or replace table umls_name as

select
    a.atom_id,
    a.concept_id,
    a.language,
    a.term,
    a.place,
    case
        when a.suppressed in ('E', 'Y') then 'atom is suppressed'
        when a.suppressed = 'O' and c.active then 'atom is obsolete'
        when
            $vocabularies <> ''
            and not list_contains(string_split($vocabularies, ','), a.vocabulary)
            then 'atom is of another vocabulary'
        when a.term = '' then 'atom is empty'
    end as reason
from umls_atom as a
inner join concept as c on a.concept_id = c.concept_id;
