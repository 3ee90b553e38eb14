-- Malformed names of active concepts: unusual spaces, unbalanced brackets, mixed scripts, invisible
-- or wrong characters, and punctuation at the start or the end.
--
-- Brackets are balanced if nothing is left after matching ones are removed nine times. Scripts are
-- mixed if a Latin letter is beside a Cyrillic, Armenian or Cherokee one, or a Greek one that
-- looks Latin, or if a name with Latin letters has a word of Cyrillic letters that look Latin.
-- Joiners of zero width belong to other scripts than these.
--
-- reads   active_name
-- writes  a row per name and kind, key (kind, concept1, term1)

with matched as (
    select
        'spacing' as kind,
        concept_id,
        term,
        regexp_extract(term, '[\s\pZ]{2,}|[\t-\r]|[^\PZ ]|[(\[{] | [)\]}]') as part
    from active_name
    union all
    select
        'characters' as kind,
        concept_id,
        term,
        regexp_extract(
            term,
            '[\x00-\x08\x0e-\x1f\x7f-\x{84}\x{86}-\x{9f}\x{ad}\x{200b}\x{200e}\x{200f}'
            || '\x{202a}-\x{202e}\x{2060}-\x{2064}\x{e000}-\x{f8ff}\x{fb00}-\x{fb06}\x{feff}'
            || '\x{ff01}-\x{ff5e}\x{fff9}-\x{ffff}]|[ÃÂ][\x{80}-\x{bf}]|â€'
            || '|[\p{Latin}\pN\pP\s][\x{200c}\x{200d}]'
            || '|&(?:[a-zA-Z]{2,8}|#x?[0-9a-fA-F]+);|</?[a-z]{1,6} ?/?>'
        ) as part
    from active_name
    union all
    select
        'last_character' as kind,
        concept_id,
        term,
        case
            when regexp_matches(term, '^(?:[,;:.&|\\]|\p{Pd}(?:\s|\pL{2}))') then left(term, 1)
            when
                regexp_matches(
                    term,
                    '(?:[,;:/&|\\_=*]|^[^,]*\pL{3}\p{Pd}|\s\p{Pd}|\pL{5}\.'
                    || '|^\S+(?: \S+){0,2}\?)$'
                )
                then right(term, 1)
        end as part
    from active_name
    union all
    select
        'brackets' as kind,
        concept_id,
        term,
        without_pairs(
            without_pairs(without_pairs(regexp_replace(term, '[^()\[\]{}]', '', 'g')))
        ) as part
    from active_name
    where regexp_matches(term, '[()\[\]{}]')
    union all
    select
        'mixed_scripts' as kind,
        concept_id,
        term,
        regexp_extract(
            term,
            '\p{Latin}[\p{Cyrillic}\p{Armenian}\p{Cherokee}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧον]'
            || '|[\p{Cyrillic}\p{Armenian}\p{Cherokee}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧον]\p{Latin}'
            || '|(?:^|[^\pL])[АВЕКМНОРСТУХІЅЈаеорсухіѕј]+(?:[^\pL]|$)'
        ) as part
    from active_name
    where regexp_matches(term, '\p{Latin}')
)

select
    kind,
    concept_id as concept1,
    term as term1,
    part as part1,
    trim(list_aggregate(
        list_transform(
            string_split(part, ''),
            lambda one: case
                when one = ' ' then '␣'
                when regexp_matches(one, '[!-~]') then one
                else format(' U+{:04X}', unicode(one))
            end
        ),
        'string_agg',
        ''
    )) as detail
from matched
where part <> ''
order by
    kind,
    term1,
    concept1;
