-- The rows of MRCONSO.RRF: a name of a concept in a vocabulary, which UMLS calls an atom.
--
-- The place is 0 for the name that UMLS prefers in its language, more for others: preferred terms
-- before others, then preferred forms of a term, then preferred atoms of a form.
--
-- reads   $stream: the text of the file, lines ended by line feeds
-- writes  umls_atom: a row per atom, key atom_id
-- params  $stream text: where the text can be read once
-- cites   UMLS Reference Manual, section 3.3.4

create or replace table umls_atom as

select
    umls_row(aui, tail) as atom_id,
    umls_row(cui, tail) as concept_id,
    umls_language(lat) as language,
    sab as vocabulary,
    code,
    trimmed(str) as term,
    (4 * (ts <> 'P')::int + 2 * (stt <> 'PF')::int + (ispref <> 'Y')::int)::tinyint as place,
    umls_suppressed(suppress) as suppressed
from
    delimited_rows(
        $stream,
        '|',
        'cui lat ts lui stt sui ispref aui saui scui sdui sab tty code str srl suppress cvf tail'
    );
