-- Words related in other ways: one is above the other in the terminology, or positives link them.
--
-- The closure is a set that grows until there are no new rows, so cycles end.
--
-- reads   word_concept, is_a
--         word_component: the components of positives that have a word, key (word_id, component)
-- writes  a row per pair of words, key (word1_id, word2_id), the smaller id first

with recursive above as (
    select distinct
        concept_id,
        concept_id as ancestor_id
    from word_concept
    union
    select
        a.concept_id,
        i.parent_id as ancestor_id
    from above as a
    inner join is_a as i on a.ancestor_id = i.child_id
),

related as (
    select
        low.word_id as one_id,
        high.word_id as other_id
    from above as a
    inner join word_concept as low on a.concept_id = low.concept_id
    inner join word_concept as high on a.ancestor_id = high.concept_id
    union
    select
        a.word_id as one_id,
        b.word_id as other_id
    from word_component as a
    inner join word_component as b on a.component = b.component
)

select distinct
    least(one_id, other_id) as word1_id,
    greatest(one_id, other_id) as word2_id
from related
where one_id <> other_id
order by all;
