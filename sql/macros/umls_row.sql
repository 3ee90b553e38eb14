-- The identifier that a row of UMLS starts with, once the row is seen to be whole: it has an
-- identifier, and nothing stands behind its last bar.
--
-- writes  macro umls_row(id, tail): the id; an error where it is empty or the tail is not

create or replace macro umls_row(id, tail) as
case
    when id = '' then error('no id')
    when tail <> '' then error('text behind the last bar')
    else id
end;
