-- The number of descriptions that a dialect leaves out, and of its names without a description.
--
-- reads   rf2_description: full history or snapshot, key (id, effective_time)
--         dialect_name
-- writes  a row per reason, key reason
-- params  $as_of date: the date; null takes the newest rows

select
    'description is neither preferred nor acceptable in the dialect' as reason,
    count(*) as n_rows
from newest_rows('rf2_description', $as_of) as d
anti join dialect_name as n on d.id = n.description_id
union all
select
    'name of the dialect is an absent description' as reason,
    count(*) as n_rows
from dialect_name as n
anti join rf2_description as d on n.description_id = d.id
order by reason;
