-- The number of UMLS rows that are left out of the canonical tables, by reason.
--
-- reads   umls_name, umls_relation, description
-- writes  a row per reason, key reason; reasons that never apply have 0 rows

with known as (
    select unnest([
        'atom is empty',
        'atom is obsolete',
        'atom is of another vocabulary',
        'atom is suppressed'
    ]) as reason
),

counted as (
    select
        k.reason,
        count(n.atom_id) as n_rows
    from known as k
    left join umls_name as n on k.reason = n.reason
    group by k.reason
    union all
    select
        'atom repeats a name of its concept' as reason,
        count(*) as n_rows
    from umls_name as n
    anti join description as d on n.atom_id = d.description_id
    where n.reason is null
    union all
    select
        'relation is between atoms' as reason,
        coalesce(sum(n_rows), 0)::bigint as n_rows
    from umls_relation
    where source_id = ''
    union all
    select
        'relation is suppressed' as reason,
        count(*) as n_rows
    from umls_relation
    where
        not active
        and source_id <> ''
)

select
    reason,
    n_rows
from counted
order by reason;
