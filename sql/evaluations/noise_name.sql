-- The names that altered names are looked up among, and their concepts.
--
-- reads   linked: term, lower_term
--         term, name
-- writes  noise_name: a row per name and concept that has it, key (name_id, concept_id);
--         concept_id is null for a name of no concept; n_concepts have the name, and n_names are
--         those of the concept

create or replace table noise_name as

with bearer as (
    select distinct
        t.lower_term,
        n.concept_id
    from term as t
    left join name as n on t.node_id = n.node_id
)

select
    cast(dense_rank() over (order by l.lower_term) - 1 as integer) as name_id,
    l.term,
    l.lower_term,
    b.concept_id,
    count(*) over (partition by l.lower_term) as n_concepts,
    count(*) over (partition by b.concept_id) as n_names
from linked as l
inner join bearer as b on l.lower_term = b.lower_term
order by
    l.lower_term,
    b.concept_id;
