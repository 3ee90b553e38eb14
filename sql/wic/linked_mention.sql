-- Mentions that stand for exactly one concept of the terminology.
--
-- A code of the terminology's own vocabulary is a concept's id. Any other is looked up among the
-- codes that concepts have in other vocabularies; one that several concepts have stands for none.
-- Where a stretch of a sentence is linked to several concepts, it stands for none either.
--
-- reads   mention, concept, code
-- writes  linked_mention: a row per stretch of a sentence, key (sentence, start_at, end_at); where
--         several documents have the sentence, it is the first of them
-- params  $vocabulary text: the terminology's own
-- cites   Rouhizadeh et al. 2024, Methods

create or replace table linked_mention as

with own as (
    select
        c.concept_id,
        $vocabulary as vocabulary,
        c.concept_id as code
    from concept as c
    where c.active
),

known as (
    select
        k.vocabulary,
        k.code,
        min(k.concept_id) as concept_id
    from code as k
    inner join concept as c on k.concept_id = c.concept_id
    where
        c.active
        and k.vocabulary is distinct from $vocabulary
    group by
        k.vocabulary,
        k.code
    having count(distinct k.concept_id) = 1
    union all
    select
        vocabulary,
        code,
        concept_id
    from own
),

linked as (
    select
        m.corpus,
        m.document_id,
        m.sentence_start,
        m.sentence,
        m."start" as start_at,
        m."end" as end_at,
        m.term,
        k.concept_id
    from mention as m
    inner join known as k
        on
            m.vocabulary = k.vocabulary
            and m.code = k.code
)

select
    sentence,
    start_at,
    end_at,
    min(term) as term,
    min(concept_id) as concept_id,
    min(struct_pack(c := corpus, d := document_id, s := sentence_start)) as place
from linked
group by
    sentence,
    start_at,
    end_at
having count(distinct concept_id) = 1
order by
    sentence,
    start_at,
    end_at;
