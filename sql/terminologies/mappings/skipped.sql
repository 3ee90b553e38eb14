-- The number of mappings that are left out, by reason.
--
-- reads   mapped
-- writes  a row per reason, key reason
-- params  $place text: the path of the file

select
    outcome || ' in ' || $place as reason,
    count(*) as n_rows
from mapped
where outcome not in ('association', 'code')
group by outcome
order by outcome;
