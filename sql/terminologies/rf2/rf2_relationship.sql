-- The rows of all relationship files, one file after the other, typed.
--
-- Only is-a relationships are kept, but all are checked.
--
-- reads   $stream: the text of the files without their header lines, lines ended by line feeds
-- writes  rf2_relationship: full history or snapshot, key (id, effective_time)
-- params  $stream text: where the text can be read once

create or replace table rf2_relationship as

select
    rf2_id(id) as id,
    rf2_day("effectiveTime") as effective_time,
    rf2_flag(active) as active,
    "sourceId" as child_id,
    "destinationId" as parent_id
from
    delimited_rows(
        $stream,
        '\t',
        'id effectiveTime active moduleId sourceId destinationId relationshipGroup typeId'
        || ' characteristicTypeId modifierId'
    )
where
    case
        when rf2_id(id) is null then false
        when rf2_day("effectiveTime") is null then false
        when rf2_flag(active) is null then false
        else "typeId" = sctid('is_a')
    end;
