-- The number of OMOP rows that are left out of the canonical tables, by reason.
--
-- reads   omop_concept, omop_kept, omop_synonym, omop_relation, omop_ancestor, description
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
),

stated as (
    select
        source_id,
        target_id,
        case kind
            when 'is_a' then 'is-a relationship'
            else 'association'
        end as noun
    from omop_relation
    where active
    union all
    select
        child_id as source_id,
        parent_id as target_id,
        'is-a relationship' as noun
    from omop_ancestor
),

related as (
    select
        s.noun,
        c1.concept_id is null or c2.concept_id is null as of_absent,
        k1.concept_id is null or k2.concept_id is null as of_left_out
    from stated as s
    left join omop_concept as c1 on s.source_id = c1.concept_id
    left join omop_concept as c2 on s.target_id = c2.concept_id
    left join omop_kept as k1 on s.source_id = k1.concept_id
    left join omop_kept as k2 on s.target_id = k2.concept_id
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
from related
where
    of_left_out
    and not of_absent
union all
select
    noun || ' is of an absent concept' as reason,
    count(*) as n_rows
from related
where of_absent
group by noun
union all
select
    'synonym is of a concept that is left out' as reason,
    count(*) as n_rows
from omop_synonym as s
semi join omop_concept as c on s.concept_id = c.concept_id
anti join omop_kept as k on s.concept_id = k.concept_id
union all
select
    'description is of an absent concept' as reason,
    count(*) as n_rows
from omop_synonym as s
anti join omop_concept as c on s.concept_id = c.concept_id
union all
select
    'synonym repeats a name of its concept' as reason,
    n.n_rows - d.n_rows as n_rows
from named as n
cross join described as d
order by reason;
