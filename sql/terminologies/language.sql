-- The languages that have active descriptions, the most frequent first.
--
-- reads   description
-- writes  a row per language, key language

select
    language,
    count(*) as n_descriptions
from description
where active
group by language
order by
    n_descriptions desc,
    language asc;
