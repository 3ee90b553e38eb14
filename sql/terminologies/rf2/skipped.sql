-- What RF2 rows are left out of the canonical tables, and why.
--
-- reads   description_as_of, association_as_of
-- writes  a row per reason, key reason; reasons that never apply have 0 rows

with reason as (
    select
        'description is not a name' as reason,
        count(*) as n_rows
    from description_as_of
    where kind is null
    union all
    select
        'description is empty' as reason,
        count(*) as n_rows
    from description_as_of
    where kind is not null and term = ''
    union all
    select
        'another fully specified name is newer' as reason,
        count(*) as n_rows
    from description_as_of
    where outranked
    union all
    select
        'association is in the model component module' as reason,
        count(*) as n_rows
    from association_as_of
    where module_id = sctid('model_component_module')
)

select
    reason,
    n_rows
from reason
order by reason;
