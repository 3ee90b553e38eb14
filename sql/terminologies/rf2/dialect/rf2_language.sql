-- The rows of all language reference set files, one file after the other, typed.
--
-- reads   $stream: the text of the files without their header lines, lines ended by line feeds
-- writes  rf2_language: full history or snapshot, key (id, effective_time)
-- params  $stream text: where the text can be read once

create or replace table rf2_language as

select
    rf2_id(id) as id,
    rf2_day("effectiveTime") as effective_time,
    rf2_flag(active) as active,
    "refsetId" as refset_id,
    "referencedComponentId" as description_id,
    "acceptabilityId" as acceptability_id
from
    delimited_rows(
        $stream,
        '\t',
        'id effectiveTime active moduleId refsetId referencedComponentId acceptabilityId'
    );
