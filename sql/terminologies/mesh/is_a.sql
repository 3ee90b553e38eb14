-- The headings that supplementary records are mapped to, and the broader headings of headings, by
-- tree number.
--
-- The tree number of the broader heading lacks the last part; a number without a dot is at the top.
--
-- reads   mesh_tree: number, concept_id, key (number, concept_id)
--         is_a: a row per supplementary record and heading
-- writes  is_a: a row per child and parent, key (child_id, parent_id)

create or replace table is_a as

select
    c.concept_id as child_id,
    p.concept_id as parent_id
from mesh_tree as c
inner join mesh_tree as p
    on
        regexp_extract(c.number, '^(.*)\.[^.]*$', 1) = p.number
        and c.concept_id <> p.concept_id
union
select
    child_id,
    parent_id
from is_a
where child_id <> parent_id
order by all;
