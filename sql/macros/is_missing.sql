-- Whether a cell is a usual marker of a missing value, as pandas, R and databases write it.
--
-- writes  macro is_missing(cell)

create or replace macro is_missing(cell) as
length(cell) < 9
and lower(trimmed(cell)) in (
    'na', 'n/a', 'n.a.', '<na>', 'null', '(null)', '\n', 'none', 'nan', '-nan', 'nat', '-', '--'
);
