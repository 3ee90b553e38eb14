-- The rank of each mention's concept by one model.
--
-- A concept counts once, with its nearest name. Equal scores are in order of the names' texts, and
-- the concepts of a name in order of their identifiers.
--
-- reads   found: the nearest names of queries: query_id, name_id, score
--         bearer, name, mention, gold
-- writes  a row per mention with a known concept, key mention_id

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
),

ranked as (
    select
        *,
        row_number() over (
            partition by query_id
            order by
                score desc,
                name_id asc,
                concept_id asc
        ) as concept_rank
    from nearest
),

correct as (
    select
        m.mention_id,
        min(r.concept_rank) as concept_rank
    from mention as m
    inner join gold as g on m.mention_id = g.mention_id
    inner join ranked as r
        on
            m.query_id = r.query_id
            and g.concept_id = r.concept_id
    group by m.mention_id
)

select
    m.mention_id,
    cast(c.concept_rank as integer) as "rank",
    r.concept_id as nearest_concept,
    n.term as nearest_name,
    r.score
from mention as m
left join correct as c on m.mention_id = c.mention_id
left join ranked as r
    on
        m.query_id = r.query_id
        and r.concept_rank = 1
left join name as n on r.name_id = n.name_id
where m.query_id is not null
order by m.mention_id;
