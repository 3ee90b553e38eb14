-- The relations between concepts in MRREL.RRF that the canonical tables can represent.
--
-- A row gives the relation of the second concept to the first: parent (PAR) or broader (RB), child
-- (CHD) or narrower (RN), synonymous (SY), or the relation in its additional label. RxNorm also
-- relates atoms without their concepts; such rows are only counted, with empty identifiers.
--
-- reads   $stream: the text of the file, lines ended by line feeds
-- writes  umls_relation: a row per concept, related concept and kind, key (source_id, target_id,
--         kind); the source is_a the target, or is replaced_by it, and so on; active if any row
--         is not suppressed; n_rows is the number of rows in the file
-- params  $stream text: where the text can be read once
--         $rxnorm boolean: whether the file is RxNorm's RXNREL.RRF
-- cites   UMLS Reference Manual, section 3.3.9; RxNorm Technical Documentation, section 12.5

create or replace table umls_relation as

with row_kind as (
    select
        cui1,
        cui2,
        $rxnorm and (cui1 = '' or cui2 = '') as of_atoms,
        umls_suppressed(suppress, $rxnorm) = 'N' as active,
        unnest([
            case
                when rel in ('PAR', 'RB') then 'broader'
                when rel in ('CHD', 'RN') then 'narrower'
                when rel = 'SY' then 'synonymous'
            end,
            case
                when rela in ('replaced_by', 'same_as', 'possibly_equivalent_to') then rela
            end
        ]) as kind
    from
        delimited_rows(
            $stream,
            '|',
            'cui1 aui1 stype1 rel cui2 aui2 stype2 rela rui srui sab sl rg dir suppress cvf tail'
        )
    where
        umls_row(case when $rxnorm and cui1 = '' then aui1 else cui1 end, tail)
        <> umls_row(case when $rxnorm and cui2 = '' then aui2 else cui2 end, tail)
)

select
    case when of_atoms then '' when kind = 'broader' then cui1 else cui2 end as source_id,
    case when of_atoms then '' when kind = 'broader' then cui2 else cui1 end as target_id,
    case when kind in ('broader', 'narrower') then 'is_a' else kind end as kind,
    bool_or(active) as active,
    count(*) as n_rows
from row_kind
where kind is not null
group by
    source_id,
    target_id,
    case when kind in ('broader', 'narrower') then 'is_a' else kind end;
