-- What separates the values of a table's columns, for the record of how it was read.
--
-- reads   separator
-- writes  a row per column in which values are separated by a sign: name, sign

select
    role || '_separator' as name,
    sign
from separator
where sign not in (chr(31), '{')
order by name;
