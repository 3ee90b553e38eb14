-- The terms that negatives of every set can be drawn from, besides the terms of its positives.
--
-- If the pool is the terminology, these are the names of eligible concepts and the terms of all
-- positives in the first language, because the terminology gives their synonyms. Other names of
-- retired concepts are left out, because nothing links them to their synonyms. Negatives across
-- languages are drawn from the names in the second term's language.
--
-- reads   name, positive, translation
-- writes  pool: a row per term, key (term_id, language_number); the number is null in the pool of
--         the datasets of one language; no rows if each set draws from its own terms
-- params  $pool text: "terminology" or "set"

create or replace table pool as

with usable as (
    select
        term_id,
        null as language_number
    from name
    union
    select
        term1_id as term_id,
        null as language_number
    from positive
    where language2 is null
    union
    select
        term2_id as term_id,
        null as language_number
    from positive
    where language2 is null
    union
    select
        term_id,
        language_number
    from translation
)

select
    term_id,
    language_number
from usable
where $pool = 'terminology'
order by
    term_id,
    language_number;
