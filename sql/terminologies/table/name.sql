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

given_row as materialized (
    select
        g.place,
        nullif(g.concept, '') as concept_id,
        g.term,
        string_split(g.synonyms, s.sign) as synonyms,
        coalesce(table_kind(g.kind), 'unstated') as kind,
        g.language,
        coalesce(table_active(g.active, false), true)
        and coalesce(table_active(g.obsolete, true), true) as active
    from given as g
    cross join separator as s
),

stated as (
    select
        place,
        0 as part,
        concept_id,
        term,
        kind,
        language,
        active
    from given_row
    where
        synonyms is null
        or term is not null
    union all
    select
        place,
        generate_subscripts(synonyms, 1) as part,
        concept_id,
        unnest(synonyms) as term,
        'synonym' as kind,
        language,
        active
    from given_row
    where synonyms is not null
)

select
    n.place,
    n.part,
    n.concept_id,
    coalesce(trimmed(n.term), '') as term,
    n.kind,
    coalesce(
        umls_language(upper(split_part(nullif(trimmed(n.language), ''), '-', 1))),
        s.lang
    ) as language,
    n.active
from stated as n
cross join setting as s;
