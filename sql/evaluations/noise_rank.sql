-- The ranks at which a model finds the concepts of altered and of unaltered names.
--
-- A rank is one more than the number of names of other concepts that are at least as similar as
-- the nearest name of the right one, so ties count against the model. The altered name itself is
-- not looked up.
--
-- reads   item: item_id, kind, n_errors, term, noisy_term, lower_noisy, concept_id, and the
--         queries noisy_query and plain_query
--         asked: query_id, query
--         found: the nearest names of queries: query_id, name_id, score
--         noise_name
-- writes  a row per item, key (kind, n_errors, term); the ranks are null beyond $max_rank
-- params  $max_rank int: the largest rank

with spelt as (
    select distinct
        name_id,
        term,
        lower_term
    from noise_name
),

look_up as (
    select
        item_id,
        concept_id,
        lower_noisy,
        unnest([false, true]) as is_plain,
        unnest([noisy_query, plain_query]) as query
    from item
),

hit as (
    select
        i.item_id,
        i.is_plain,
        s.term,
        f.score,
        n.concept_id is not null as is_own,
        max(f.score) filter (where n.concept_id is not null) over (
            partition by
                i.item_id,
                i.is_plain
        ) as best
    from look_up as i
    inner join asked as a on i.query = a.query
    inner join found as f on a.query_id = f.query_id
    inner join spelt as s
        on
            f.name_id = s.name_id
            and i.lower_noisy != s.lower_term
    left join noise_name as n
        on
            f.name_id = n.name_id
            and i.concept_id = n.concept_id
),

place as (
    select
        item_id,
        is_plain,
        min_by(term, row(-score, term)) as nearest_term,
        1 + count(*) filter (where score >= best and not is_own) as place,
        bool_or(is_own) and place <= $max_rank as is_found
    from hit
    group by
        item_id,
        is_plain
)

select
    i.kind,
    i.n_errors,
    i.term,
    i.noisy_term,
    i.concept_id,
    cast(if(n.is_found, n.place, null) as integer) as "rank",
    cast(if(p.is_found, p.place, null) as integer) as rank_unaltered,
    n.nearest_term
from item as i
left join place as n
    on
        i.item_id = n.item_id
        and not n.is_plain
left join place as p
    on
        i.item_id = p.item_id
        and p.is_plain
order by all;
