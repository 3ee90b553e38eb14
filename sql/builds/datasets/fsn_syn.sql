-- Pairs of a concept's fully specified name and one of its synonyms.
--
-- reads   name
-- writes  fsn_syn: candidate pairs, a row per concept and synonym
-- cites   Schulz and Juric 2020, section 3.1
-- order   4

create or replace table fsn_syn as

select
    fsn.term_id as term1_id,
    syn.term_id as term2_id,
    fsn.node_id as node1_id,
    syn.node_id as node2_id,
    fsn.concept_id as concept1,
    syn.concept_id as concept2
from name as fsn
inner join name as syn on fsn.concept_id = syn.concept_id
where
    fsn.is_fsn
    and not syn.is_fsn;
