-- The concept with the most names, if it exceeds the limit: pairs grow with the square of names.
--
-- reads   name
-- writes  one row at most: concept_id, n_names
-- params  $most int: the most names that a concept may have

select
    concept_id,
    count(*) as n_names
from name
group by concept_id
having count(*) > $most
order by
    n_names desc,
    concept_id asc
limit 1;
