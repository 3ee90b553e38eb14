-- The active associations, with numbers instead of concepts.
--
-- reads   association, described_concept
-- writes  numbered_association: a row per active association

create or replace table numbered_association as

select
    s.concept_number as source_number,
    t.concept_number as target_number,
    a.kind
from association as a
inner join described_concept as s on a.source_id = s.concept_id
inner join described_concept as t on a.target_id = t.concept_id
where a.active;
