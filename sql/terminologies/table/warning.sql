-- What a user should check in a table, a sentence each.
--
-- reads   marker, word, separator, reference, unlike
-- writes  a row per sentence, key warning

with error as (
    select
        sum(n_cells)::bigint as n_cells,
        min(value) as example
    from marker
    where is_error
),

missing as (
    select
        sum(n_cells)::bigint as n_cells,
        min(value) as example
    from marker
    where
        is_left_out
        and not is_error
        and role in ('concept', 'term', 'synonyms')
),

parent as (
    select
        count(*) as n_parents,
        count(*) filter (not is_known) as n_absent,
        min(target_id) filter (not is_known) as example
    from reference
    where role = 'parent'
),

status as (
    select
        count(active) as n_known,
        min(value) filter (trimmed(value) <> '') as example
    from word
    where role = 'status'
)

select format('cells with an error of a spreadsheet, such as {}: {:,}', example, n_cells) as warning
from error
where n_cells > 0
union all
select
    format(
        'names and identifiers such as {} read as missing: {:,}; add missing= to `columns` if they '
        || 'are not',
        example,
        n_cells
    ) as warning
from missing
where n_cells > 0
union all
select
    format(
        'cells of {} with {} as part of a value: {:,} of {:,}; add separator={} to `columns` if it '
        || 'separates values',
        role,
        other_sign,
        n_other,
        n_cells,
        case other_sign when '|' then 'bar' else 'semicolon' end
    ) as warning
from separator
where
    n_other * 100 >= n_cells
    or (
        n_other > 0
        and sign = chr(31)
    )
union all
select
    format(
        'parents that are neither a concept nor a name of the table, such as {}: {:,} of {:,}',
        example,
        n_absent,
        n_parents
    ) as warning
from parent
where n_absent * 2 > n_parents
union all
select
    format(
        'no value of status, such as {}, is known, so all rows count as in use; write active and '
        || 'inactive, or add status= to `columns`',
        example
    ) as warning
from status
where
    n_known = 0
    and example is not null
union all
select
    format(
        'identifiers that a spreadsheet shortened, such as {} of {} and {}: {:,}; save the column '
        || 'as text, as each may be several concepts',
        concept,
        first_term,
        other_term,
        n_shortened
    ) as warning
from unlike
where n_shortened > 0
union all
select
    format(
        'concepts with unlike names in several rows, such as {} with {} and {}: {:,}; are they '
        || 'different concepts?',
        concept,
        first_term,
        other_term,
        n_concepts
    ) as warning
from unlike
where
    n_concepts > 0
    and n_shortened = 0
order by warning;
