-- Codes of concepts with those of exact mappings and cross-references to other vocabularies.
--
-- reads   code, mapped
-- writes  code: key (concept_id, vocabulary, code)

create or replace table code as

from code
union
select
    coalesce(source_id, target_id) as concept_id,
    if(source_id is null, subject_vocabulary, object_vocabulary) as vocabulary,
    if(source_id is null, subject_code, object_code) as code
from mapped
where outcome = 'code'
order by all;
