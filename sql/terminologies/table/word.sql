-- What the distinct values of a table's columns for kinds, states and languages mean.
--
-- reads   given
-- writes  word: a row per column and value that is not null, key (role, value); place is the number
--         of its first row; of kind, active and language only the meaning of its column is not null

create or replace table word as

with given_row as (
    select
        kind,
        active,
        status,
        obsolete,
        language,
        min(place) as place
    from given
    group by
        kind,
        active,
        status,
        obsolete,
        language
),

stated as (
    select
        unnest(['kind', 'active', 'status', 'obsolete', 'language']) as role,
        unnest([kind, active, status, obsolete, language]) as value,
        place
    from given_row
),

distinct_value as (
    select
        role,
        value,
        min(place) as place
    from stated
    where value is not null
    group by
        role,
        value
)

select
    role,
    value,
    place,
    case when role = 'kind' then table_kind(regexp_replace(value, '\.0$', '')) end as kind,
    case
        when role in ('active', 'status', 'obsolete')
            then table_active(regexp_replace(value, '\.0$', ''), role = 'obsolete')
    end as active,
    case
        when role = 'language' and regexp_matches(trimmed(value), '^[A-Za-z]{2,3}([-_].*)?$')
            then umls_language(upper(regexp_extract(trimmed(value), '^[A-Za-z]*')))
    end as language
from distinct_value;
