-- The number of a table's names that are left out, or not preferred as stated, by reason.
--
-- reads   name, description
-- writes  a row per reason, key reason; reasons that never apply have 0 rows

with kept as (
    select
        concept_id,
        language,
        term,
        bool_or(kind = 'fsn') as is_preferred,
        count(*) as n_names
    from name
    where
        concept_id is not null
        and term <> ''
    group by
        concept_id,
        language,
        term
)

select
    'row has no concept' as reason,
    count(distinct place) as n_rows
from name
where concept_id is null
union all
select
    'description is empty' as reason,
    count(*) as n_rows
from name
where
    concept_id is not null
    and term = ''
union all
select
    'name repeats a name of its concept' as reason,
    coalesce(sum(n_names - 1), 0)::bigint as n_rows
from kept
union all
select
    'second preferred name, read as a synonym' as reason,
    count(*) as n_rows
from kept as k
inner join description as d
    on
        k.concept_id = d.concept_id
        and k.language = d.language
        and k.term = d.term
where
    k.is_preferred
    and d.kind = 'synonym'
order by reason;
