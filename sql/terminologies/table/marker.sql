-- The cells of a table that stand for a missing value, or are an error of a spreadsheet.
--
-- A missing value is a name or an identifier if each column has at most one, as NA for sodium and
-- for Namibia, unless the user gave the marker.
--
-- reads   raw_row
--         setting: missing is the only marker of missing values, or null for the usual ones
-- writes  marker: a row per column and cell, key (role, value); n_cells is how many there are, and
--         is_left_out whether they are left out

create or replace table marker as

with cell as (
    unpivot raw_row
    on columns(* exclude (place))
    into name role value value
),

stated as (
    select
        c.role,
        c.value,
        is_cell_error(c.value) as is_error,
        s.missing is not null or c.role not in ('concept', 'term', 'synonyms') as is_no_name
    from cell as c
    cross join setting as s
    where
        is_cell_error(c.value)
        or if(s.missing is null, is_missing(c.value), trimmed(c.value) = nullif(s.missing, ''))
),

counted as (
    select
        role,
        value,
        is_error,
        is_no_name,
        count(*) as n_cells,
        sum(count(*)) over (partition by role, is_error) as n_of_column
    from stated
    group by
        role,
        value,
        is_error,
        is_no_name
)

select
    role,
    value,
    is_error,
    n_cells,
    is_error or is_no_name or max(n_of_column) over (partition by is_error) > 1 as is_left_out
from counted
order by all;
