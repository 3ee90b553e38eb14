-- What rows of OMOP are left out of the canonical tables, and why.
--
-- reads   omop_concept, omop_kept, omop_synonym, omop_relation, description
-- writes  a row per reason, key reason; reasons that never apply have 0 rows

with kept_name as (
    select term
    from omop_kept
    union all
    select s.term
    from omop_synonym as s
    semi join omop_kept as k on s.concept_id = k.concept_id
),

named as (
    select count(*) as n_rows
    from kept_name
    where term <> ''
),

described as (
    select count(*) as n_rows
    from description
)

select
    'concept is not asked for' as reason,
    count(*) as n_rows
from omop_concept as c
anti join omop_kept as k on c.concept_id = k.concept_id
union all
select
    'description is empty' as reason,
    count(*) as n_rows
from kept_name
where term = ''
union all
select
    'relationship is invalid' as reason,
    count(*) as n_rows
from omop_relation
where not active
union all
select
    'relationship is of a concept that is left out' as reason,
    count(*) as n_rows
from omop_relation as r
left join omop_kept as s on r.source_id = s.concept_id
left join omop_kept as t on r.target_id = t.concept_id
where
    r.active
    and (s.concept_id is null or t.concept_id is null)
union all
select
    'synonym is of a concept that is left out' as reason,
    count(*) as n_rows
from omop_synonym as s
anti join omop_kept as k on s.concept_id = k.concept_id
union all
select
    'synonym repeats a name of its concept' as reason,
    n.n_rows - d.n_rows as n_rows
from named as n
cross join described as d
order by reason;
