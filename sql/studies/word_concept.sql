-- The concepts that have a word as a name.
--
-- reads   name
--         word_node: the lower-cased terms that are forms or variants of a word,
--         key (node_id, word_id)
-- writes  word_concept: a row per word and concept, key (word_id, concept_id)

create or replace table word_concept as

select distinct
    w.word_id,
    n.concept_id
from name as n
inner join word_node as w on n.node_id = w.node_id
order by all;
