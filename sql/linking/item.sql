-- The mentions with the queries that they are.
--
-- reads   mention
-- writes  a row per mention: item_id and query_id, key item_id

select
    mention_id as item_id,
    query_id
from mention
order by item_id;
