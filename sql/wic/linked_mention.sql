-- Mentions that stand for exactly one concept of the terminology.
--
-- A span of a sentence that is linked to several concepts is left out.
--
-- reads   mention, cited_code
-- writes  linked_mention: a row per span of a sentence, key (sentence, start_at, end_at); if
--         several documents have the sentence, the place is in the first of them
-- cites   Rouhizadeh et al. 2024, Methods

create or replace table linked_mention as

select
    m.sentence,
    m."start" as start_at,
    m."end" as end_at,
    min(m.term) as term,
    min(k.concept_id) as concept_id,
    min(struct_pack(c := m.corpus, d := m.document_id, s := m.sentence_start)) as place
from mention as m
inner join cited_code as k
    on
        m.vocabulary = k.vocabulary
        and m.code = k.code
where k.n_concepts = 1
group by all
having count(distinct k.concept_id) = 1
order by
    m.sentence,
    start_at,
    end_at;
