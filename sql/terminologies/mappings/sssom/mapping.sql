-- Mappings in SSSOM, by what their predicates say of two concepts.
--
-- The name of a predicate counts, whatever its prefix: oio:hasDbXref is oboInOwl:hasDbXref.
--
-- reads   sssom: columns of the file, with identifiers as those of concepts; predicate_modifier may
--         be missing
-- writes  mapping: a row per mapping; relation is null where it is negated, and kind is null there
--         and where the predicate is another

create or replace table mapping as

with modified as (
    from sssom
    union all by name
    select null::varchar as predicate_modifier
    where false
),

named as (
    select
        *,
        regexp_extract(lower(predicate_id), '[^:/#]*$') as predicate,
        case
            when lower(predicate_modifier) = 'not' or object_id = 'sssom:NoTermFound' then null
            else left(predicate_id, 100)
        end as relation
    from modified
)

select
    regexp_extract(subject_id, '^([^:]*):', 1) as subject_vocabulary,
    regexp_extract(subject_id, '^[^:]*:(.*)', 1) as subject_code,
    regexp_extract(object_id, '^([^:]*):', 1) as object_vocabulary,
    regexp_extract(object_id, '^[^:]*:(.*)', 1) as object_code,
    relation,
    case
        when relation is null then null
        when predicate in ('exactmatch', 'equivalentclass', 'sameas') then 'same_as'
        when predicate in ('0100001', 'iao_0100001', 'isreplacedby', 'replacedby')
            then 'replaced_by'
        when predicate in ('closematch', 'consider') then 'possibly_equivalent_to'
        when predicate in ('hasdbxref', 'xref') then 'cross_reference'
    end as kind
from named;
