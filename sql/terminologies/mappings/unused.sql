-- A warning if no mapping of a file is used, with the most frequent reasons.
--
-- reads   mapped
-- writes  one row, or none if a mapping is used: warning
-- params  $place text: the path of the file

with counted as (
    select
        outcome,
        count(*) as n_rows
    from mapped
    group by outcome
    order by
        n_rows desc,
        outcome asc
)

select
    format(
        '{}: none of its {:,} mappings is used ({})',
        $place,
        sum(n_rows)::bigint,
        string_agg(format('{}: {:,}', outcome, n_rows), '; ' order by n_rows desc, outcome asc)
    ) as warning
from counted
having
    count(*) > 0
    and not bool_or(outcome in ('association', 'code'));
