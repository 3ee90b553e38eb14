-- The sign between the values of each column that may have several.
--
-- It is a bar or semicolon, whichever more cells have; a sign in a single one of ten cells or more,
-- or in fewer than one of a hundred, is part of a value. Lists have the unit separator of ASCII, or
-- a brace if most cells are in braces, as PostgreSQL writes lists.
--
-- reads   given, setting
-- writes  separator: a row per column with values, key role; sign is the unit separator if no cell
--         has several; other_sign is a bar or semicolon that n_other of n_cells have

create or replace table separator as

with cell as (
    unpivot given
    on synonyms, parent, replaced_by
    into name role value value
),

counted as (
    select
        role,
        count(*) as n_cells,
        bool_or(contains(value, chr(31))) as has_lists,
        count(*) filter (value[1] = '{' and value[-1] = '}') * 2 > count(*) as has_braces,
        count(*) filter (contains(value, '|') and not is_list(value)) as n_bars,
        count(*) filter (contains(value, ';') and not is_list(value)) as n_semicolons
    from cell
    group by role
),

ranked as (
    select
        *,
        greatest(n_bars, n_semicolons) as n_most,
        if(n_bars >= n_semicolons, '|', ';') as most,
        if(n_bars >= n_semicolons, ';', '|') as least
    from counted
),

chosen as (
    select
        r.*,
        case
            when r.has_lists then chr(31)
            when r.has_braces then '{'
            when s.separator <> '' then s.separator
            when r.n_most > 0 and (r.n_cells < 10 or (r.n_most > 1 and r.n_most * 100 >= r.n_cells))
                then r.most
            else chr(31)
        end as sign,
        s.separator = '' and not r.has_lists and not r.has_braces as is_open
    from ranked as r
    cross join setting as s
)

select
    role,
    sign,
    n_cells,
    case when sign = most then least else most end as other_sign,
    if(is_open, case when sign = most then least(n_bars, n_semicolons) else n_most end, 0)
        as n_other
from chosen
order by role;
