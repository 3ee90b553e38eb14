-- Components that have several rows of the same effective time.
--
-- reads   $rows: a table of RF2 rows
-- writes  a row per (id, effective_time) that occurs more than once: the number of further rows,
--         and whether they differ
-- params  $rows text: name of the table

select
    repeated.id,
    case
        when isfinite(repeated.effective_time) then strftime(repeated.effective_time, '%Y%m%d')
        else ''
    end as effective_time,
    count(*) - 1 as n_repeated,
    count(distinct repeated) > 1 as differ
from query_table($rows) as repeated
group by
    repeated.id,
    repeated.effective_time
having count(*) > 1
order by
    repeated.id,
    repeated.effective_time;
