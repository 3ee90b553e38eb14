-- Whether a cell is a usual marker of a missing value, as pandas, R and databases write it.
--
-- writes  macro is_missing(cell)

create or replace macro is_missing(cell) as
trimmed(cell) in (
    'NA', 'N/A', 'n/a', 'n.a.', 'N.A.', '<NA>', 'NULL', 'Null', 'null', '(null)', '\N', 'None',
    'NaN', 'nan', '-nan', '-NaN', 'NaT', '-', '--'
);
