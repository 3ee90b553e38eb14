-- The values of a cell: those of a list (see is_list), or the parts between separators; null for an
-- empty list.
--
-- If the sign is a brace, cells in braces are lists, as PostgreSQL writes them. Lists that were no
-- text have the unit separator of ASCII between their values.
--
-- writes  macro cell_values(cell, sign)

create or replace macro cell_values(cell, sign) as
case
    when cell is null then null
    when sign = '{' and trimmed(cell)[1] = '{'
        then nullif(
            list_transform(
                list_filter(
                    regexp_extract_all(
                        trimmed(cell)[2:-2], '"(?:[^"\\]|\\.)*"|[^,"\s][^,"]*'
                    ),
                    lambda x: x <> 'NULL'
                ),
                lambda x: regexp_replace(
                    regexp_replace(x, '^"(.*)"$', '\1', 's'), '\\(["\\])', '\1', 'g'
                )
            ),
            []
        )
    when not is_list(cell) then string_split(cell, sign)
    when trimmed(cell)[1] = '[' and json_valid(cell)
        then nullif(list_filter(from_json(cell, '["VARCHAR"]'), lambda x: x is not null), [])
    else nullif(
        list_transform(
            regexp_extract_all(
                trimmed(cell)[2:-2], '''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*"'
            ),
            lambda x: replace(
                regexp_replace(
                    regexp_replace(x, '^[''"](.*)[''"]$', '\1', 's'),
                    '\\([''"\\])',
                    '\1',
                    'g'
                ),
                '\xa0',
                ' '
            )
        ),
        []
    )
end;
