-- The concepts that were added, removed, retired, reactivated or moved below other parents.
--
-- reads   release_concept
-- writes  a row per concept, key concept_id

select
    change,
    concept_id,
    term,
    category,
    old_parents,
    new_parents,
    kept
from release_concept
where change is not null
order by
    change,
    concept_id;
