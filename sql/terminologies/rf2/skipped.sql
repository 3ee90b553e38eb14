-- The number of RF2 rows that are left out of the canonical tables, by reason.
--
-- reads   description_as_of
--         rf2_association: full history or snapshot, key (id, effective_time)
-- writes  a row per reason, key reason; reasons that never apply have 0 rows
-- params  $as_of date: the date; null takes the newest rows

select
    'another fully specified name is newer' as reason,
    count(*) as n_rows
from description_as_of
where outranked
union all
select
    'association is in the model component module' as reason,
    count(*) as n_rows
from newest_rows('rf2_association', $as_of)
where module_id = sctid('model_component_module')
union all
select
    'description is empty' as reason,
    count(*) as n_rows
from description_as_of
where kind is not null and term = ''
union all
select
    'description is not a name' as reason,
    count(*) as n_rows
from description_as_of
where kind is null
order by reason;
