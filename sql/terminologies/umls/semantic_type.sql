-- The semantic types of concepts in MRSTY.RRF.
--
-- reads   $stream: the text of the file, lines ended by line feeds
-- writes  semantic_type: a row per concept and type, key (concept_id, type_id)
-- params  $stream text: where the text can be read once

create or replace table semantic_type as

select
    umls_row(cui, tail) as concept_id,
    tui as type_id,
    any_value(sty) as semantic_type
from delimited_rows($stream, '|', 'cui tui stn sty atui cvf tail')
group by all
order by all;
