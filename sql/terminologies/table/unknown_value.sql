-- The first value of a table that is not a known word for its column; columns of status without any
-- known word are not used.
--
-- reads   word
-- writes  at most one row: place, the number of its row; role, its column; value; known, values
--         that are known

with status as (
    select count(active) > 0 as is_used
    from word
    where role = 'status'
)

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
order by
    w.place,
    w.role
limit 1;
