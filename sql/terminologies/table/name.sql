-- The names that the rows of a table give to concepts.
--
-- reads   given, setting, word
-- writes  name: a row per name; place is the number of its row, part its number in the row;
--         concept_id may be null, and term empty

create or replace table name as

with separator as (
    select
        coalesce(max(nullif(s.separator, '')), cell_separator(g.synonyms)) as sign,
        max(s.lang) as lang
    from given as g
    cross join setting as s
),

given_row as materialized (
    select
        g.place,
        nullif(g.concept, '') as concept_id,
        g.term,
        string_split(g.synonyms, p.sign) as synonyms,
        coalesce(k.kind, 'unstated') as kind,
        coalesce(l.language, p.lang) as language,
        coalesce(a.active, true) and coalesce(s.active, true) and coalesce(o.active, true)
            as active
    from given as g
    cross join separator as p
    left join word as k on k.role = 'kind' and g.kind = k.value
    left join word as l on l.role = 'language' and g.language = l.value
    left join word as a on a.role = 'active' and g.active = a.value
    left join word as s on s.role = 'status' and g.status = s.value
    left join word as o on o.role = 'obsolete' and g.obsolete = o.value
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
    place,
    part,
    concept_id,
    coalesce(trimmed(term), '') as term,
    kind,
    language,
    active
from stated;
