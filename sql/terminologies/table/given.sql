-- The rows of a table without markers of missing values and errors of spreadsheets.
--
-- reads   raw_row, marker
-- writes  given: a row per row of the table, key place

create or replace table given as

with missing as (
    select
        list(value) filter (role = 'concept') as concept,
        list(value) filter (role = 'term') as term,
        list(value) filter (role = 'synonyms') as synonyms,
        list(value) as any_column
    from marker
    where is_left_out
)

select
    r.place,
    table_cell(r.concept, m.concept) as concept,
    table_cell(r.term, m.term) as term,
    table_cell(r.synonyms, m.synonyms) as synonyms,
    table_cell(r.kind, m.any_column) as kind,
    table_cell(r.language, m.any_column) as language,
    table_cell(r.active, m.any_column) as active,
    table_cell(r.status, m.any_column) as status,
    table_cell(r.obsolete, m.any_column) as obsolete,
    table_cell(r.replaced_by, m.any_column) as replaced_by,
    table_cell(r.parent, m.any_column) as parent,
    table_cell(r.category, m.any_column) as category,
    table_cell(r.frequency, m.any_column) as frequency
from raw_row as r
cross join missing as m
order by r.place;
