-- Components that have several rows of the same effective time.
--
-- reads   $rows: a table of RF2 rows
-- writes  a row per (id, effective_time) that occurs more than once
-- params  $rows text: name of the table

select
    id,
    strftime(effective_time, '%Y%m%d') as effective_time
from query_table($rows)
group by
    id,
    effective_time
having count(*) > 1
order by
    id,
    effective_time;
