-- The identifier at the start of a UMLS row, after a check that the row is complete: it has an
-- identifier and nothing after its last bar.
--
-- writes  macro umls_row(id, tail): the id; an error if it is empty or the tail is not

create or replace macro umls_row(id, tail) as
case
    when id = '' then error('no identifier')
    when tail <> '' then error('text behind the last bar')
    else id
end;
