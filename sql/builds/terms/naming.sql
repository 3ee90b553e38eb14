-- Every description, and whether its text is a term of pairs, that is, active and in a language of
-- the build.
--
-- DuckDB's views take no parameters, so an option that leaves names out belongs in the tables that
-- read this one, spelling and named.
--
-- reads   description, build_language: language_number from 0, language
-- writes  naming: a view, a row per description; gives_term says whether its text is a term;
--         language_number is null for other languages

create or replace view naming as

select
    d.description_id,
    d.concept_id,
    d.kind,
    d.term,
    r.language_number,
    d.active and r.language_number is not null as gives_term
from description as d
left join build_language as r on d.language = r.language;
