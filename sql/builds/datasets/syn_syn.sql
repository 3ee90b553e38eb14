-- Pairs of any two names of the same concept.
--
-- reads   name
-- writes  syn_syn: candidate pairs, a row per concept and two of its names, the fully
--         specified name first, then by text
-- cites   Schulz and Juric 2020, section 3.1
-- order   5
-- contains fsn_syn

create or replace table syn_syn as

select
    earlier.term_id as term1_id,
    later.term_id as term2_id,
    earlier.node_id as node1_id,
    later.node_id as node2_id,
    earlier.concept_id as concept1,
    later.concept_id as concept2
from name as earlier
inner join name as later on earlier.concept_id = later.concept_id
where
    (earlier.is_fsn and not later.is_fsn)
    or (earlier.is_fsn = later.is_fsn and earlier.term_id < later.term_id);
