-- The concepts that a code stands for when a corpus cites it.
--
-- A code of the terminology's own vocabulary is a concept's id; an id such as HP:0001658 names its
-- vocabulary itself. Any other is one that concepts have in other vocabularies. Only active
-- concepts count.
--
-- reads   concept, code
-- writes  cited_code: a row per code, key (vocabulary, code); where it has several concepts, the
--         smallest id is given
-- params  $vocabulary text: the terminology's own

create or replace table cited_code as

with candidate as (
    select
        k.vocabulary,
        k.code,
        k.concept_id
    from code as k
    inner join concept as c on k.concept_id = c.concept_id
    where
        c.active
        and k.vocabulary is distinct from $vocabulary
    union all
    select
        $vocabulary as vocabulary,
        c.concept_id as code,
        c.concept_id
    from concept as c
    where
        c.active
        and $vocabulary is not null
    union all
    select
        split_part(c.concept_id, ':', 1) as vocabulary,
        substr(c.concept_id, strpos(c.concept_id, ':') + 1) as code,
        c.concept_id
    from concept as c
    where
        c.active
        and contains(c.concept_id, ':')
)

select
    vocabulary,
    code,
    min(concept_id) as concept_id,
    count(distinct concept_id) as n_concepts
from candidate
group by
    vocabulary,
    code
order by
    vocabulary,
    code;
