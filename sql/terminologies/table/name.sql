-- The names that the rows of a table give to concepts.
--
-- Markers of missing values among several synonyms of a cell are empty, if there are two or more.
--
-- reads   given, setting, separator, word
-- writes  name: a row per name; place is the number of its row, part its number in the row;
--         concept_id may be null, and term empty

create or replace table name as

with sign as (
    select
        max(s.lang) as lang,
        max(p.sign) as sign
    from setting as s
    left join separator as p on p.role = 'synonyms'
),

given_row as materialized (
    select
        g.place,
        nullif(g.concept, '') as concept_id,
        g.term,
        cell_values(g.synonyms, p.sign) as synonyms,
        coalesce(k.kind, 'unstated') as kind,
        coalesce(l.language, p.lang) as language,
        coalesce(a.active, true) and coalesce(s.active, true) and coalesce(o.active, true)
            as active
    from given as g
    cross join sign as p
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
),

missing as (
    select count(*) > 1 as are_several
    from stated as s
    cross join setting as p
    where
        s.part > 0
        and if(p.missing is null, is_missing(s.term), trimmed(s.term) = nullif(p.missing, ''))
)

select
    s.place,
    s.part,
    s.concept_id,
    if(
        m.are_several
        and s.part > 0
        and if(p.missing is null, is_missing(s.term), trimmed(s.term) = nullif(p.missing, '')),
        '',
        coalesce(trimmed(s.term), '')
    ) as term,
    s.kind,
    s.language,
    s.active
from stated as s
cross join missing as m
cross join setting as p;
