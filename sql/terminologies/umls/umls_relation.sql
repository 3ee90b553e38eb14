-- What MRREL.RRF says of two concepts that the canonical tables have a place for.
--
-- A row says what the second concept is to the first: its parent (PAR) or broader (RB), its child
-- (CHD) or narrower (RN), synonymous with it (SY), or what its additional label says.
--
-- reads   $stream: the text of the file, lines ended by line feeds
-- writes  umls_relation: a row per concept, what it is related to and how, key (source_id,
--         target_id, kind); the source is_a the target, or is replaced_by it, and so on; active
--         where any row is not suppressed
-- params  $stream text: where the text can be read once
-- cites   UMLS Reference Manual, section 3.3.9

create or replace table umls_relation as

with row_kind as (
    select
        cui1,
        cui2,
        umls_suppressed(suppress) = 'N' as active,
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
    where umls_row(cui1, tail) <> umls_row(cui2, tail)
)

select
    case when kind = 'broader' then cui1 else cui2 end as source_id,
    case when kind = 'broader' then cui2 else cui1 end as target_id,
    case when kind in ('broader', 'narrower') then 'is_a' else kind end as kind,
    bool_or(active) as active
from row_kind
where kind is not null
group by all;
