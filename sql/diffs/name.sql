-- The names that differ between two releases: main names that were replaced, as pairs, and all
-- other texts that only one release has.
--
-- reads   release_name, release_concept
-- writes  a row per name or pair, key (concept_id, old_term, new_term); change is preferred, added
--         or removed; concept_change is null if the concept did not change

with main_name as (
    select
        o.concept_id,
        o.term as old_term,
        n.term as new_term
    from release_name as o
    inner join release_name as n on o.concept_id = n.concept_id
    where
        o.is_fsn
        and not o.is_new
        and n.is_fsn
        and n.is_new
        and o.term <> n.term
),

changed as (
    select
        'preferred' as change,
        concept_id,
        old_term,
        new_term
    from main_name
    union all
    select
        'removed' as change,
        o.concept_id,
        o.term as old_term,
        null as new_term
    from release_name as o
    anti join release_name as n
        on
            n.is_new
            and o.concept_id = n.concept_id
            and o.term = n.term
    anti join main_name as m
        on
            o.concept_id = m.concept_id
            and o.term = m.old_term
    where not o.is_new
    union all
    select
        'added' as change,
        n.concept_id,
        null as old_term,
        n.term as new_term
    from release_name as n
    anti join release_name as o
        on
            not o.is_new
            and n.concept_id = o.concept_id
            and n.term = o.term
    anti join main_name as m
        on
            n.concept_id = m.concept_id
            and n.term = m.new_term
    where n.is_new
)

select
    d.change,
    d.concept_id,
    d.old_term,
    d.new_term,
    c.term as concept_term,
    c.category,
    c.change as concept_change,
    c.kept
from changed as d
inner join release_concept as c on d.concept_id = c.concept_id
order by
    d.concept_id,
    d.change,
    d.old_term,
    d.new_term;
