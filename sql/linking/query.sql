-- The distinct mentions with a known concept, ignoring case.
--
-- reads   mention
-- writes  a row per query with its first spelling, key query_id, in order of query_id and of text

select
    query_id,
    lower_term,
    min(term) as term
from mention
where query_id is not null
group by
    query_id,
    lower_term
order by query_id;
