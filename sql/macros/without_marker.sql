-- A retired concept's name less the "[D]" that marks it, at its start or its end.
--
-- writes  macro without_marker(term)
-- cites   Schulz and Juric 2020, the code published with it

create or replace macro without_marker(term) as
case
    when contains(term, '[D]')
        then trimmed(regexp_replace(trimmed(regexp_replace(term, '^\[D\]', '')), '\[D\]$', ''))
    else trimmed(term)
end;
