-- Whether a cell is an error of a spreadsheet in any language, such as #REF! or #NV.
--
-- writes  macro is_cell_error(cell)

create or replace macro is_cell_error(cell) as
cell[1] = '#'
and regexp_matches(
    trimmed(cell),
    '^#([¡¿]?\p{Lu}[\p{Lu}\d/]*[!?]|N/A|NA|NV|N/D|N/B|N/DISP|I/T|Н/Д|ARVO!|#+)$'
);
