-- The distinct mentions.
--
-- reads   mention
-- writes  a row per query, key query_id, in order of query_id, which is that of lower_term

select distinct
    query_id,
    lower_term,
    term
from mention
order by query_id;
