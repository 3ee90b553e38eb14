-- The character that separates the values of a cell, judging by all cells of a column.
--
-- The values of a list have the unit separator of ASCII between them, which is also the answer for
-- cells without a separator.
--
-- writes  macro cell_separator(cells): an aggregate

create or replace macro cell_separator(cells) as
case
    when coalesce(bool_or(contains(cells, chr(31))), false) then chr(31)
    when coalesce(bool_or(contains(cells, '|')), false) then '|'
    when coalesce(bool_or(contains(cells, ';')), false) then ';'
    else chr(31)
end;
