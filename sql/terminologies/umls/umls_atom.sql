-- The rows of MRCONSO.RRF: a name of a concept in a vocabulary, which UMLS calls an atom.
--
-- The place is 0 for the name that UMLS prefers in its language, and larger for others: preferred
-- terms come first, then preferred forms of a term, then preferred atoms of a form. RxNorm does not
-- mark these: there the normalized name comes first, then the name for prescriptions, then
-- synonyms, then names from other vocabularies.
--
-- reads   $stream: the text of the file, lines ended by line feeds
-- writes  umls_atom: a row per atom, key atom_id
-- params  $stream text: where the text can be read once
--         $rxnorm boolean: whether the file is RxNorm's RXNCONSO.RRF
-- cites   UMLS Reference Manual, section 3.3.4; RxNorm Technical Documentation, section 12.4

create or replace table umls_atom as

select
    umls_row(aui, tail) as atom_id,
    umls_row(cui, tail) as concept_id,
    umls_language(lat) as language,
    sab as vocabulary,
    code,
    trimmed(str) as term,
    case
        when $rxnorm then rxnorm_place(sab, tty)
        else (4 * (ts <> 'P')::int + 2 * (stt <> 'PF')::int + (ispref <> 'Y')::int)::tinyint
    end as place,
    umls_suppressed(suppress, $rxnorm) as suppressed
from
    delimited_rows(
        $stream,
        '|',
        'cui lat ts lui stt sui ispref aui saui scui sdui sab tty code str srl suppress cvf tail'
    );
