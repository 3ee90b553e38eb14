-- The distinct mentions with a known concept.
--
-- reads   mention
-- writes  a row per query, key query_id, in order of query_id, which is that of lower_term

select distinct
    query_id,
    lower_term,
    term
from mention
where query_id is not null
order by query_id;
