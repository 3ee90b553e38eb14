-- Numbers for the concepts that have descriptions, so that rules are checked without their ids.
--
-- reads   concept, description
-- writes  described_concept: a row per concept, key concept_id; concept_number counts the rows

create or replace table described_concept as

with described as (
    select distinct concept_id
    from description
)

select
    d.concept_id,
    (row_number() over () - 1)::int as concept_number,
    coalesce(c.active, false) as is_active
from described as d
left join concept as c on d.concept_id = c.concept_id;
