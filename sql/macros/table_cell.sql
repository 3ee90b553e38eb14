-- A cell as it was meant: null for a marker, and its text for a spreadsheet's formula ="0001".
--
-- writes  macro table_cell(cell, markers)

create or replace macro table_cell(cell, markers) as
case
    when list_contains(markers, cell) then null
    when cell[1] = '=' and regexp_matches(cell, '^="[^"]*"$') then cell[3:-2]
    else cell
end;
