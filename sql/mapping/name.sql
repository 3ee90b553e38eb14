-- The names of active concepts in one language, of all or some categories.
--
-- reads   concept, description, is_a
--         chosen: a row per category, a concept or a semantic tag; empty for all
-- writes  rows of concept_id, term, is_main and category, key (concept_id, term); category is the
--         semantic tag of the concept
-- params  $language text: the language of the names

with recursive below as (
    select category as concept_id
    from chosen
    union
    select i.child_id as concept_id
    from below as b
    inner join is_a as i on b.concept_id = i.parent_id
)

select
    d.concept_id,
    d.term,
    bool_or(d.kind = 'fsn') as is_main,
    c.semantic_tag as category
from description as d
inner join concept as c on d.concept_id = c.concept_id
where
    d.active
    and c.active
    and d.language = $language
    and (
        not exists (select 1 from chosen)
        or c.semantic_tag in (select s.category from chosen as s)
        or c.concept_id in (select b.concept_id from below as b)
    )
group by
    d.concept_id,
    d.term,
    c.semantic_tag
order by
    d.concept_id,
    d.term;
