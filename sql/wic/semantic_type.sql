-- The semantic types of the concepts that mentions stand for.
--
-- reads   semantic_type
--         mentioned: the concepts of mentions, key concept_id
-- writes  a row per concept and type, key (concept_id, type_id)

select
    t.concept_id,
    t.type_id,
    t.semantic_type
from semantic_type as t
inner join mentioned as m on t.concept_id = m.concept_id
order by all;
