-- A value of OMOP, without the marks that databases write for missing values.
--
-- writes  macro omop_text(text): the text; empty for NULL and \N

create or replace macro omop_text(text) as
case
    when text in ('NULL', '\N') then ''
    else text
end;
