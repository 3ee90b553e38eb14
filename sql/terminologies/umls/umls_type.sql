-- The semantic type of each concept in MRSTY.RRF: of several the one with the smallest identifier.
--
-- reads   $stream: the text of the file, lines ended by line feeds
-- writes  umls_type: a row per concept, key concept_id
-- params  $stream text: where the text can be read once

create or replace table umls_type as

select
    umls_row(cui, tail) as concept_id,
    arg_min(sty, tui) as semantic_tag
from delimited_rows($stream, '|', 'cui tui stn sty atui cvf tail')
group by concept_id;
