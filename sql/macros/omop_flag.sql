-- The letter by which OMOP marks a row, or nothing.
--
-- writes  macro omop_flag(text): the text; an error where it is neither a capital letter nor empty

create or replace macro omop_flag(text) as
case
    when text = '' or (length(text) = 1 and text between 'A' and 'Z') then text
    else error('neither a letter nor nothing')
end;
