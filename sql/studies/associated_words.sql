-- Words that a terminology associates as synonyms or siblings.
--
-- Synonyms are names of one concept; siblings are names of two concepts under one parent. A pair
-- that is both counts as synonyms; if there are several concepts, the smallest is given.
--
-- reads   word_concept, is_a
-- writes  a row per pair of words, key (word1_id, word2_id), the smaller id first; concept_id is
--         the concept of synonyms, the parent of siblings
-- cites   Chiu et al. 2018

with child as (
    select distinct
        i.parent_id,
        w.word_id,
        w.concept_id
    from is_a as i
    inner join word_concept as w on i.child_id = w.concept_id
),

pair as (
    select
        a.word_id as word1_id,
        b.word_id as word2_id,
        true as are_synonyms,
        a.concept_id
    from word_concept as a
    inner join word_concept as b on a.concept_id = b.concept_id
    union all
    select
        a.word_id as word1_id,
        b.word_id as word2_id,
        false as are_synonyms,
        a.parent_id as concept_id
    from child as a
    inner join child as b
        on
            a.parent_id = b.parent_id
            and a.concept_id <> b.concept_id
)

select
    word1_id,
    word2_id,
    bool_or(are_synonyms) as are_synonyms,
    coalesce(min(concept_id) filter (where are_synonyms), min(concept_id)) as concept_id
from pair
where word1_id < word2_id
group by all
order by
    word1_id,
    word2_id;
