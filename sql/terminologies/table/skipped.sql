-- The number of a table's names and cells that are left out, or not preferred as stated, by reason.
--
-- reads   name, description, marker
-- writes  a row per reason, key reason; reasons that never apply have 0 rows

with kept as (
    select count(*) as n_names
    from name
    where
        concept_id is not null
        and term <> ''
        and kind <> 'definition'
),

distinct_name as (
    select count(*) as n_names
    from description
),

preferred as (
    select distinct
        concept_id,
        language,
        term
    from name
    where kind = 'fsn'
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
    'description is a definition' as reason,
    count(*) as n_rows
from name
where
    concept_id is not null
    and term <> ''
    and kind = 'definition'
union all
select
    'name repeats a name of its concept' as reason,
    k.n_names - d.n_names as n_rows
from kept as k
cross join distinct_name as d
union all
select
    'second preferred name, read as a synonym' as reason,
    count(*) as n_rows
from preferred as p
inner join description as d
    on
        p.concept_id = d.concept_id
        and p.language = d.language
        and p.term = d.term
where d.kind = 'synonym'
union all
select
    'cell is a marker of a missing value' as reason,
    coalesce(sum(n_cells), 0)::bigint as n_rows
from marker
where
    is_left_out
    and not is_error
union all
select
    'cell is an error of a spreadsheet' as reason,
    coalesce(sum(n_cells), 0)::bigint as n_rows
from marker
where is_error
order by reason;
