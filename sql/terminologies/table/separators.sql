-- The character that separates the values of a cell, in the columns that may have several.
--
-- A list of another format has the unit separator of ASCII between its values.
--
-- reads   given
-- writes  one row: synonyms, replaced_by, parent; without a known separator, the unit separator

select
    cell_separator(synonyms) as synonyms,
    cell_separator(replaced_by) as replaced_by,
    cell_separator(parent) as parent
from given
order by all;
