-- Every description, and whether its text is a term of pairs, that is, active and in the build's
-- language.
--
-- reads   description, rule: a row with the options that affect rows
-- writes  naming: a view, a row per description; gives_term says whether its text is a term

create or replace view naming as

select
    d.description_id,
    d.concept_id,
    d.kind,
    d.term,
    d.active and d.language = r.language as gives_term
from description as d
cross join rule as r;
