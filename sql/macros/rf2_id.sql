-- The identifier of a component, which every row must have.
--
-- writes  macro rf2_id(text): the text; an error if it is empty

create or replace macro rf2_id(text) as
case
    when text <> '' then text
    else error('no id')
end;
