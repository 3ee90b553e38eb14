-- The rank of each mention's concept by one model.
--
-- A concept counts once, with its nearest name. Equal scores are in order of the names' texts, and
-- the concepts of a name in order of their identifiers.
--
-- A near miss is the concept found first if it is a parent, child or sibling of a right one, in
-- this order.
--
-- reads   found: the nearest names of queries: query_id, name_id, score
--         bearer, name, mention, gold, is_a
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
,

parents as (
    select
        child_id as concept_id,
        list(distinct parent_id) as every
    from is_a
    group by child_id
),

first_found as (
    select
        m.mention_id,
        r.concept_id
    from mention as m
    inner join ranked as r
        on
            m.query_id = r.query_id
            and r.concept_rank = 1
),

near_miss as (
    select
        f.mention_id,
        ['parent', 'child', 'sibling'][
            min(
                case
                    when list_contains(g_up.every, f.concept_id) then 1
                    when list_contains(f_up.every, g.concept_id) then 2
                    when list_has_any(g_up.every, f_up.every) then 3
                end
            )
        ] as relation
    from first_found as f
    inner join gold as g on f.mention_id = g.mention_id
    left join parents as g_up on g.concept_id = g_up.concept_id
    left join parents as f_up on f.concept_id = f_up.concept_id
    group by f.mention_id
)

select
    m.mention_id,
    cast(c.concept_rank as integer) as "rank",
    r.concept_id as nearest_concept,
    n.term as nearest_name,
    r.score,
    case when coalesce(c.concept_rank, 0) <> 1 then n_m.relation end as near_miss
from mention as m
left join correct as c on m.mention_id = c.mention_id
left join ranked as r
    on
        m.query_id = r.query_id
        and r.concept_rank = 1
left join name as n on r.name_id = n.name_id
left join near_miss as n_m on m.mention_id = n_m.mention_id
where m.query_id is not null
order by m.mention_id;
