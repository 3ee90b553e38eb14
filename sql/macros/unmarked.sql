-- An inactive concept's name without marks of obsolescence at its start and end: the words
-- obsolete, obsoleted and deprecated, bare or in brackets.
--
-- A name that has no other words is not changed.
--
-- writes  macro unmarked(term): 'heart failure' for 'obsolete_heart failure', 'OBSOLETE: heart
--         failure', 'obsolete obsolete heart failure' and 'heart failure (obsolete)'

create or replace macro unmarked(term) as
coalesce(
    nullif(
        trimmed(
            regexp_replace(
                regexp_replace(
                    term,
                    '^((obsoleted?|deprecated)[\s_:;,]+([-–]+\s+)?'
                    || '|[\[(](obsoleted?|deprecated)[\])][\s_:;,-]*)+',
                    '',
                    'i'
                ),
                '([\s_]*[\[(](obsoleted?|deprecated)\b[^\[\]()]*[\])]'
                || '|([\s_:;,]+[-–]*)[\s_]*(obsoleted?|deprecated))+$',
                '',
                'i'
            )
        ),
        ''
    ),
    term
);
