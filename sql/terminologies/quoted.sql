-- A quoted name, where all names of its kind and language are in quotes, of which there are a few
-- at least: the file that they are from was written by a program that quotes values.
--
-- reads   description
-- writes  a row per language and kind: term, the first of them

select min(term) as term
from description
group by
    language,
    kind
having
    count(*) >= 5
    and bool_and(prefix(term, '"') and suffix(term, '"'))
order by term;
