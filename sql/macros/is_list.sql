-- Whether a cell is a list as programs write it: texts in quotes between brackets, as in Python,
-- JSON and NumPy.
--
-- writes  macro is_list(cell)

create or replace macro is_list(cell) as
regexp_matches(
    cell,
    '(?i)^\s*[\[(]\s*((''([^''\\]|\\.)*''|"([^"\\]|\\.)*"|none|null|nan)[\s,]*)*[\])]\s*$'
);
