-- The concept with the most names, if it exceeds the limit, since pairs grow with their square.
--
-- reads   name, translation
-- writes  one row at most: concept_id, n_names
-- params  $max_names int: maximum number of names of a concept

with spelt as (
    select concept_id from name
    union all
    select concept_id from translation
)

select
    concept_id,
    count(*) as n_names
from spelt
group by concept_id
having count(*) > $max_names
order by
    n_names desc,
    concept_id asc
limit 1;
