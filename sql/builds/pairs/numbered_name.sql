-- The active names of active concepts, in every language, with numbers for concepts, languages and
-- terms.
--
-- reads   described_concept, description, term, build_language
-- writes  numbered_name: a row per active name; a repeated name has several rows; the language is
--         null if it is not one of the build

create or replace table numbered_name as

select
    c.concept_number,
    r.language_number,
    t.term_id,
    d.kind
from description as d
inner join described_concept as c on d.concept_id = c.concept_id
inner join term as t on d.term = t.term
left join build_language as r on d.language = r.language
where
    d.active
    and c.is_active;
