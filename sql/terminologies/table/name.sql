-- The names that the rows of a table give to concepts.
--
-- reads   given, setting
-- writes  name: a row per name; place is the number of its row, part its number in the row;
--         concept_id may be null, and term empty

create or replace table name as

with separator as (
    select coalesce(max(nullif(s.separator, '')), cell_separator(g.synonyms)) as sign
    from given as g
    cross join setting as s
),

stated as (
    select
        place,
        0 as part,
        concept as concept_id,
        term,
        coalesce(table_kind(kind), 'unstated') as kind,
        language,
        active,
        obsolete
    from given
    where
        synonyms is null
        or term is not null
    union all
    select
        g.place,
        unnest(generate_series(1, len(string_split(g.synonyms, s.sign)))) as part,
        g.concept as concept_id,
        unnest(string_split(g.synonyms, s.sign)) as term,
        'synonym' as kind,
        g.language,
        g.active,
        g.obsolete
    from given as g
    cross join separator as s
    where g.synonyms is not null
)

select
    n.place,
    n.part,
    nullif(n.concept_id, '') as concept_id,
    coalesce(trimmed(n.term), '') as term,
    n.kind,
    coalesce(
        umls_language(upper(split_part(nullif(trimmed(n.language), ''), '-', 1))),
        s.lang
    ) as language,
    coalesce(table_active(n.active, false), true)
    and coalesce(table_active(n.obsolete, true), true) as active
from stated as n
cross join setting as s;
