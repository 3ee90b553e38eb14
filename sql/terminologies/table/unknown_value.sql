-- The first value of a table that is not a known word for its column; columns of status without any
-- known word are not used.
--
-- reads   word, given
-- writes  at most one row: place, the number of its row; role, its column; value; known, values
--         that are known

with status as (
    select count(active) > 0 as is_used
    from word
    where role = 'status'
),

odd as (
    select
        w.place,
        w.role,
        w.value,
        case w.role
            when 'kind' then 'preferred or synonym'
            when 'language' then 'codes such as en'
            else 'active or inactive, or yes or no'
        end as known
    from word as w
    cross join status as s
    where
        trimmed(w.value) <> ''
        and w.kind is null
        and w.active is null
        and w.language is null
        and (
            w.role <> 'status'
            or s.is_used
        )
    union all
    select
        place,
        'frequency' as role,
        frequency as value,
        'a whole number' as known
    from given
    where
        trimmed(frequency) <> ''
        and table_count(frequency) is null
)

select
    place,
    role,
    value,
    known
from odd
order by
    place,
    role
limit 1;
