-- The names of records, with the codes of their languages.
--
-- reads   description: with languages as MeSH writes them, such as eng
-- writes  description: a row per name, key description_id, with languages such as en

create or replace table description as

select
    description_id,
    concept_id,
    term,
    kind,
    active,
    umls_language(upper(language)) as language
from description
order by description_id;
