-- The concepts whose names are too long.
--
-- reads   description
-- writes  a row per name, key description_id: concept_id
-- params  $longest the maximum number of characters of a name

select concept_id
from description
where length(term) > $longest
order by description_id;
