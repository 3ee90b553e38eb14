-- The ranked list of concepts of each query by one search.
--
-- A concept counts once, with its nearest name. Equal scores are in order of the names' texts, and
-- the concepts of a name in order of their identifiers.
--
-- reads   found: the nearest names of queries: query_id, name_id, score
--         bearer, name
-- writes  a row per query and concept: query_id, concept_id, concept_rank from 1, name and score

with nearest as (
    select
        f.query_id,
        b.concept_id,
        f.name_id,
        f.score
    from found as f
    inner join bearer as b on f.name_id = b.name_id
    qualify row_number() over (
        partition by
            f.query_id,
            b.concept_id
        order by
            f.score desc,
            f.name_id asc
    ) = 1
)

select
    r.query_id,
    r.concept_id,
    row_number() over (
        partition by r.query_id
        order by
            r.score desc,
            r.name_id asc,
            r.concept_id asc
    ) as concept_rank,
    n.term as "name",
    cast(r.score as double) as score
from nearest as r
inner join name as n on r.name_id = n.name_id
order by
    r.query_id,
    concept_rank;
