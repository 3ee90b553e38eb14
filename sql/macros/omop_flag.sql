-- The letter that OMOP marks a row with, or an empty text; NULL, \N and R's NA count as empty.
--
-- writes  macro omop_flag(text): the text; an error if it is neither a capital letter nor empty

create or replace macro omop_flag(text) as
case
    when text in ('NULL', '\N', 'NA') then ''
    when text = '' or (length(text) = 1 and text between 'A' and 'Z') then text
    else error('the flag ''' || text || ''', neither a capital letter nor empty')
end;
