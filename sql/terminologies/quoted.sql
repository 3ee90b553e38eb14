-- A quoted name, if there are several names of its kind and language and all are quoted, which
-- means that a program quoted the values.
--
-- reads   description
-- writes  a row per language and kind: term, the first such name

select min(term) as term
from description
group by
    language,
    kind
having
    count(*) >= 5
    and bool_and(prefix(term, '"') and suffix(term, '"'))
order by term;
