-- Pairs of any two names of the same concept.
--
-- reads   name, naming, term
-- writes  syn_syn: candidate pairs, a row per concept and two of its names, the fully
--         specified name first, then by text
-- params  $published_rules text[]: with "direction" synonyms are by identifier, shorter ones first
-- cites   Schulz and Juric 2020, section 3.1
-- order   5
-- contains fsn_syn

create or replace table syn_syn as

with described as (
    select
        n.concept_id,
        t.term_id,
        min((length(n.description_id), n.description_id)) as place
    from naming as n
    inner join term as t on n.term = t.term
    where
        n.kind = 'synonym'
        and n.gives_term
        and n.language_number = 0
        and list_contains($published_rules, 'direction')
    group by all
)

select
    earlier.term_id as term1_id,
    later.term_id as term2_id,
    earlier.node_id as node1_id,
    later.node_id as node2_id,
    earlier.concept_id as concept1,
    later.concept_id as concept2
from name as earlier
inner join name as later on earlier.concept_id = later.concept_id
left join described as e
    on
        earlier.concept_id = e.concept_id
        and earlier.term_id = e.term_id
left join described as l
    on
        later.concept_id = l.concept_id
        and later.term_id = l.term_id
where
    (earlier.is_fsn and not later.is_fsn)
    or (
        earlier.is_fsn = later.is_fsn
        and coalesce(e.place < l.place, earlier.term_id < later.term_id)
    );
