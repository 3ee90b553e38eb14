-- The rows of all association files, one file after the other, typed.
--
-- reads   $stream: the text of the files without their header lines, lines ended by line feeds
-- writes  rf2_association: full history or snapshot, key (id, effective_time)
-- params  $stream text: where the text can be read once

create or replace table rf2_association as

select
    rf2_id(id) as id,
    rf2_day("effectiveTime") as effective_time,
    rf2_flag(active) as active,
    "moduleId" as module_id,
    "refsetId" as refset_id,
    "referencedComponentId" as source_id,
    "targetComponentId" as target_id
from
    delimited_rows(
        $stream,
        '\t',
        'id effectiveTime active moduleId refsetId referencedComponentId targetComponentId'
    );
