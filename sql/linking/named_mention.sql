-- The mentions by all that can name them in tables of others, as text.
--
-- reads   mention
-- writes  a row per mention, key query_id: mention, document, start, end and text

select
    mention_id as query_id,
    cast(mention_id as varchar) as mention,
    document_id as document,
    cast("start" as varchar) as "start",
    cast("end" as varchar) as "end",
    term as "text"
from mention
order by query_id;
