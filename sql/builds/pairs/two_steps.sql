-- The terms that a first term of a set cannot be paired with if links are two steps long.
--
-- A term next to a first term, or next to one of its second terms, is excluded with all pairs that
-- contain it. A term is left over only if it is in another pair.
--
-- reads   set_pair: the positives of the set, key (term1_id, term2_id)
-- writes  a row per first term and term that is in no remaining pair
-- cites   Schulz and Juric 2020, the published code

with step as materialized (
    select
        term1_id as left_id,
        term2_id as right_id
    from set_pair
    union all
    select
        term2_id as left_id,
        term1_id as right_id
    from set_pair
),

degree as (
    select
        left_id as term_id,
        count(*) as n_pairs
    from step
    group by left_id
),

near as (
    select
        term1_id as first_id,
        term1_id as term_id
    from set_pair
    union
    select
        term1_id as first_id,
        term2_id as term_id
    from set_pair
),

excluded as materialized (
    select distinct
        n.first_id,
        s.right_id as term_id
    from near as n
    inner join step as s on n.term_id = s.left_id
),

surrounded as (
    select
        e.first_id,
        s.right_id as term_id
    from excluded as e
    inner join step as s on e.term_id = s.left_id
    inner join degree as d on s.right_id = d.term_id
    group by
        e.first_id,
        s.right_id,
        d.n_pairs
    having count(*) = d.n_pairs
)

select
    first_id,
    term_id
from excluded
union
select
    first_id,
    term_id
from surrounded
order by
    first_id,
    term_id;
