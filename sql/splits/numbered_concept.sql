-- Every concept in the canonical tables, numbered in order of id.
--
-- Relationships are left out, because they are the same in every split.
--
-- reads   concept, description, association, code
-- writes  numbered_concept: a row per concept, key concept_id; concept_number counts the rows

create or replace table numbered_concept as

with named as (
    select concept_id
    from concept
    union
    select concept_id
    from description
    union
    select source_id as concept_id
    from association
    union
    select target_id as concept_id
    from association
    union
    select concept_id
    from code
)

select
    concept_id,
    cast(row_number() over (order by concept_id) - 1 as integer) as concept_number
from named
order by concept_id;
