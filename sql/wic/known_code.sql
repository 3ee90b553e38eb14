-- The number of codes in corpora that stand for exactly one concept of the terminology.
--
-- reads   corpus_code: a row per code, key (vocabulary, code)
--         cited_code
-- writes  one row, n_codes

select count(*) as n_codes
from corpus_code as c
inner join cited_code as k
    on
        c.vocabulary = k.vocabulary
        and c.code = k.code
where k.n_concepts = 1;
