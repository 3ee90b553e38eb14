-- The whole number in a cell, which may have a sign between thousands, or zeros after a point; null
-- if it has none.
--
-- writes  macro table_count(cell): 1234 for '1,234', and 12 for '12.0'

create or replace macro table_count(cell) as
case
    when regexp_matches(trimmed(cell), '^\d{1,3}([, ''’]\d{3}){1,4}$')
        then regexp_replace(cell, '\D', '', 'g')::bigint
    else try_cast(regexp_extract(trimmed(cell), '^(\d{1,15})(\.0+)?$', 1) as bigint)
end;
