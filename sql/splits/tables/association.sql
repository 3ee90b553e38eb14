-- The associations with both ends in one split.
--
-- reads   whole_association, concept_split of that split
-- writes  association: a row per association, key (source_id, target_id, kind)

create or replace table association as

select a.* -- noqa: AM04
from whole_association as a
semi join concept_split as s on a.source_id = s.concept_id
semi join concept_split as t on a.target_id = t.concept_id
order by
    a.source_id,
    a.target_id,
    a.kind;
