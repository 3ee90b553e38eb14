-- The known concepts of mentions.
--
-- A code of several concepts has none.
--
-- reads   annotation_code: a row per mention and code; cited_code
-- writes  gold: a row per mention and concept, key (item_id, concept_id); item_id is mention_id

create or replace table gold as

select distinct
    a.mention_id as item_id,
    c.concept_id
from annotation_code as a
inner join cited_code as c
    on
        a.vocabulary = c.vocabulary
        and a.code = c.code
where c.n_concepts = 1
order by all;
