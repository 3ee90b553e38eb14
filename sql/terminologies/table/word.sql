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
        obsolete,
        language,
        min(place) as place
    from given
    group by
        kind,
        active,
        obsolete,
        language
),

stated as (
    select
        unnest(['kind', 'active', 'obsolete', 'language']) as role,
        unnest([kind, active, obsolete, language]) as value,
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
    case when role = 'kind' then table_kind(value) end as kind,
    case when role in ('active', 'obsolete') then table_active(value, role = 'obsolete') end
        as active,
    case
        when role = 'language'
            then umls_language(upper(split_part(nullif(trimmed(value), ''), '-', 1)))
    end as language
from distinct_value;
