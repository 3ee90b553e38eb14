-- The rows of MRCUI.RRF: retired concepts, and the concepts that they became or are related to.
--
-- reads   $stream: the text of the file, lines ended by line feeds
-- writes  umls_retired: a row per retired concept, target and kind; the target is empty and the
--         kind null for a concept that was deleted
-- params  $stream text: where the text can be read once
-- cites   UMLS Reference Manual, section 3.3.5

create or replace table umls_retired as

select distinct
    umls_row(cui1, tail) as source_id,
    cui2 as target_id,
    case
        when cui2 = '' then null
        when rel = 'SY' then 'replaced_by'
        else 'possibly_equivalent_to'
    end as kind
from delimited_rows($stream, '|', 'cui1 ver rel rela mapreason cui2 mapin tail');
