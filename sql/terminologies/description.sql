-- The names of concepts, those of inactive concepts without marks of obsolescence; in names of
-- active concepts these words belong to the name.
--
-- reads   concept, description
-- writes  description: the same rows, key description_id

update description
set term = unmarked(term)
from concept as c
where
    description.concept_id = c.concept_id
    and not c.active
    and regexp_matches(term, 'obsolete|deprecated', 'i');
