-- The rows of all relationship files, one file after the other, typed.
--
-- Only is-a relationships are kept.
--
-- reads   $stream: the text of the files without their header lines, lines ended by line feeds
-- writes  rf2_relationship: full history or snapshot, key (id, effective_time)
-- params  $stream text: where the text can be read once

create or replace table rf2_relationship as

select
    id,
    "effectiveTime" as effective_time,
    active,
    "sourceId" as child_id,
    "destinationId" as parent_id
from
    read_csv(
        $stream,
        auto_detect = false,
        header = false,
        delim = '\t',
        quote = '',
        escape = '',
        nullstr = e'\x01',
        new_line = '\n',
        dateformat = '%Y%m%d',
        columns = {
            'id': 'varchar',
            'effectiveTime': 'date',
            'active': 'boolean',
            'moduleId': 'varchar',
            'sourceId': 'varchar',
            'destinationId': 'varchar',
            'relationshipGroup': 'varchar',
            'typeId': 'varchar',
            'characteristicTypeId': 'varchar',
            'modifierId': 'varchar'
        }
    )
where "typeId" = sctid('is_a');
