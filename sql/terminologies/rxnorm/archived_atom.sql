-- The rows of RXNATOMARCHIVE.RRF with RxNorm's own names: removed atoms, and the concept that their
-- old concept was merged into.
--
-- reads   $stream: the text of the file, lines ended by line feeds
-- writes  archived_atom: a row per atom, key atom_id
-- params  $stream text: where the text can be read once
-- cites   RxNorm Technical Documentation, section 12.10

create or replace table archived_atom as

select
    umls_row(rxaui, tail) as atom_id,
    rxcui as concept_id,
    umls_language(lat) as language,
    sab as vocabulary,
    code,
    trimmed(str) as term,
    rxnorm_place(sab, tty) as place,
    merged_to_rxcui as merged_to
from
    delimited_rows(
        $stream,
        '|',
        'rxaui aui str archive_timestamp created_timestamp updated_timestamp code is_brand lat'
        || ' last_released saui vsab rxcui sab tty merged_to_rxcui tail'
    )
where
    case
        when umls_row(rxaui, tail) is null then false
        else sab = 'RXNORM' and rxcui <> ''
    end
qualify row_number() over (
    partition by rxaui
    order by archive_timestamp desc, rxcui asc, merged_to_rxcui asc, str asc
) = 1;
