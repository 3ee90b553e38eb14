-- The rows of all description files, one file after the other, typed.
--
-- reads   $stream: the text of the files without their header lines, lines ended by line feeds
-- writes  rf2_description: full history or snapshot, key (id, effective_time)
-- params  $stream text: where the text can be read once

create or replace table rf2_description as

select
    id,
    "effectiveTime" as effective_time,
    active,
    "conceptId" as concept_id,
    "languageCode" as language,
    "typeId" as type_id,
    term
from read_csv(
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
        'conceptId': 'varchar',
        'languageCode': 'varchar',
        'typeId': 'varchar',
        'term': 'varchar',
        'caseSignificanceId': 'varchar'
    }
);
