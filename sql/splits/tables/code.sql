-- The codes in other vocabularies for the concepts of one split.
--
-- reads   whole_code, concept_split of that split
-- writes  code: a row per code, key (concept_id, vocabulary, code)

create or replace table code as

select
    c.concept_id,
    c.vocabulary,
    c.code
from whole_code as c
semi join concept_split as s on c.concept_id = s.concept_id
order by
    c.concept_id,
    c.vocabulary,
    c.code;
