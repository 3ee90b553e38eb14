-- The identifier of a component, which no row lacks.
--
-- writes  macro rf2_id(text): the text; an error where it is empty

create or replace macro rf2_id(text) as
case
    when text <> '' then text
    else error('no id')
end;
