-- The descriptions that a dialect leaves out.
--
-- reads   rf2_description: full history or snapshot, key (id, effective_time)
--         dialect_name
-- writes  one row, reason and n_rows
-- params  $as_of date: the day; null takes the newest rows

select
    'description is neither preferred nor acceptable in the dialect' as reason,
    count(*) as n_rows
from newest_rows('rf2_description', $as_of) as d
anti join dialect_name as n on d.id = n.description_id;
