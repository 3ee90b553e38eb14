-- A quoted name, if all names of its kind and language are in quotes and there are several: then a
-- program that quotes values wrote the file.
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
