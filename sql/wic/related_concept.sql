-- Pairs of concepts that are excluded from instances, because they may mean the same.
--
-- Two concepts are excluded if they share a code in another vocabulary, if the terminology calls
-- them synonymous, or if one is broader than the other. Only concepts of mentions are considered.
--
-- reads   mentioned: the concepts of mentions, key concept_id
--         code, association, is_a
-- writes  related_concept: a row per pair and relation, the smaller id first, key (concept1,
--         concept2, relation)
-- params  $vocabulary text: the terminology's own vocabulary
--         $any_depth boolean: whether all ancestors count as broader, or only parents
-- cites   Rouhizadeh et al. 2024, Methods

create or replace table related_concept as

with recursive above as (
    select
        i.child_id as concept_id,
        i.parent_id as ancestor_id
    from is_a as i
    inner join mentioned as m on i.child_id = m.concept_id
    union
    select
        a.concept_id,
        i.parent_id as ancestor_id
    from above as a
    inner join is_a as i on a.ancestor_id = i.child_id
    where $any_depth
),

own_code as (
    select
        k.concept_id,
        k.vocabulary,
        k.code
    from code as k
    inner join mentioned as m on k.concept_id = m.concept_id
    where k.vocabulary is distinct from $vocabulary
),

related as (
    select
        a.concept_id as left_id,
        b.concept_id as right_id,
        'shared_code' as relation
    from own_code as a
    inner join own_code as b
        on
            a.vocabulary = b.vocabulary
            and a.code = b.code
    union all
    select
        source_id as left_id,
        target_id as right_id,
        'synonymous' as relation
    from association
    where
        active
        and kind in ('synonymous', 'same_as')
    union all
    select
        concept_id as left_id,
        ancestor_id as right_id,
        'broader' as relation
    from above
)

select distinct
    least(f.left_id, f.right_id) as concept1,
    greatest(f.left_id, f.right_id) as concept2,
    f.relation
from related as f
inner join mentioned as a on f.left_id = a.concept_id
inner join mentioned as b on f.right_id = b.concept_id
where f.left_id <> f.right_id
order by all;
