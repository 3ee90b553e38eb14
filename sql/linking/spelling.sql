-- The spellings of each name.
--
-- reads   entry, name
-- writes  a row per spelling, key term, in order of name_id and term

select distinct
    n.name_id,
    e.term
from entry as e
inner join name as n on e.lower_term = n.lower_term
order by all;
