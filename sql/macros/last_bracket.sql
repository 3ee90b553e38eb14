-- What stands in a text behind its last " (", if it ends in ")"; null where there is none.
--
-- writes  macro last_bracket(text): such as 'disorder)'

create or replace macro last_bracket(text) as
case
    when suffix(text, ')') and contains(text, ' (')
        then string_split(text, ' (')[-1]
end;
