-- The number of rows that are left out, by reason.
--
-- reads   fhir_code_system, fhir_concept, fhir_name
-- writes  a row per reason, key reason; reasons that never apply have 0 rows

select
    'concept has no code' as reason,
    count(*) as n_rows
from fhir_concept
where concept_id is null
union all
select
    'hierarchy is not of is-a relationships' as reason,
    count(*) as n_rows
from fhir_concept as c
cross join fhir_code_system as s
where
    c.parent_id is not null
    and (s.system ->> '$.hierarchyMeaning') in ('grouped-by', 'part-of')
union all
select
    'description is empty' as reason,
    count(*) as n_rows
from fhir_name
where term = ''
union all
select
    'description is repeated' as reason,
    count(*) - count(distinct concat_ws(chr(0), concept_id, language, term)) as n_rows
from fhir_name
where term <> ''
order by reason;
