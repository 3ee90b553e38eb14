-- The smallest identifier that several concepts have.
--
-- reads   omop_concept
-- writes  one row, concept_id; null if there is none

with repeated as (
    select concept_id
    from omop_concept
    group by concept_id
    having count(*) > 1
)

select min(concept_id) as concept_id
from repeated;
