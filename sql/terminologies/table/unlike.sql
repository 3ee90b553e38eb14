-- Concepts with unlike names in several rows, which may be different concepts: their identifier is
-- a number that a spreadsheet shortened, or hardly any other concept of the table has several rows.
--
-- Names are unlike if they share no word. In a table of kinds or languages, rows are names.
--
-- reads   given
-- writes  unlike: one row: n_concepts, n_shortened of them, the first concept, and two of its names

create or replace table unlike as

with repeated as (
    select concept
    from given
    where concept <> ''
    group by concept
    having count(distinct term) > 1
),

row_name as (
    select
        g.concept,
        g.place,
        trimmed(g.term) as term,
        regexp_extract_all(nfc_normalize(lower(g.term)), '[\p{L}\p{N}]+') as words
    from given as g
    semi join repeated as r on g.concept = r.concept
    where trimmed(g.term) <> ''
),

first_name as (
    select
        concept,
        min_by(term, place) as term,
        min_by(words, place) as words
    from row_name
    group by concept
),

unlike_name as (
    select
        f.concept,
        f.term as first_term,
        min_by(r.term, r.place) as other_term,
        regexp_matches(f.concept, '^(\d([.,]\d+)?[Ee]\+\d+|\d{15}0+)$') as is_shortened,
        count(*) over () as n_unlike
    from first_name as f
    inner join row_name as r on f.concept = r.concept
    where not list_has_any(f.words, r.words)
    group by
        f.concept,
        f.term
),

form as (
    select
        count(synonyms) > 0 as has_synonyms,
        count(kind) + count(language) > 0 as has_names,
        count(distinct concept) as n_concepts
    from given
),

odd as (
    select u.*
    from unlike_name as u
    cross join form as f
    where
        u.is_shortened
        or (
            not f.has_names
            and (
                f.has_synonyms
                or u.n_unlike * 10 < f.n_concepts
            )
        )
)

select
    count(*) as n_concepts,
    count(*) filter (is_shortened) as n_shortened,
    min_by(concept, (not is_shortened, concept)) as concept,
    min_by(first_term, (not is_shortened, concept)) as first_term,
    min_by(other_term, (not is_shortened, concept)) as other_term
from odd;
