-- The text after the last " (", if the text ends in ")"; else null.
--
-- writes  macro last_bracket(text): such as 'disorder)'

create or replace macro last_bracket(text) as
case
    when suffix(text, ')') and contains(text, ' (')
        then string_split(text, ' (')[-1]
end;
