-- The descriptions of the concepts of one split, except those whose text is a term of another
-- split.
--
-- reads   whole_description, concept_split of that split, left_out
-- writes  description: a row per description, key description_id; with the column preferred if the
--         build has a dialect

create or replace table description as

select d.* -- noqa: AM04
from whole_description as d
semi join concept_split as s on d.concept_id = s.concept_id
anti join left_out as l
    on
        d.description_id = l.description_id
        and d.concept_id = l.concept_id
order by d.description_id;
