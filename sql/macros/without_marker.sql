-- A retired concept's name without its marker "[D]" at the start or the end.
--
-- writes  macro without_marker(term)
-- cites   Schulz and Juric 2020, the code published with it

create or replace macro without_marker(term) as
case
    when contains(term, '[D]')
        then trimmed(regexp_replace(trimmed(regexp_replace(term, '^\[D\]', '')), '\[D\]$', ''))
    else trimmed(term)
end;
