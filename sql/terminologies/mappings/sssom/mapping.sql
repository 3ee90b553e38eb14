-- Mappings in SSSOM, by what their predicates say of two concepts.
--
-- reads   sssom: columns of the file; predicate_modifier may be missing
-- writes  mapping: a row per mapping; kind is null where it is negated or of another predicate

create or replace table mapping as

with modified as (
    from sssom
    union all by name
    select null::varchar as predicate_modifier
    where false
)

select
    regexp_extract(subject_id, '^([^:]*):', 1) as subject_vocabulary,
    regexp_extract(subject_id, '^[^:]*:(.*)', 1) as subject_code,
    regexp_extract(object_id, '^([^:]*):', 1) as object_vocabulary,
    regexp_extract(object_id, '^[^:]*:(.*)', 1) as object_code,
    case
        when lower(predicate_modifier) = 'not' or object_id = 'sssom:NoTermFound' then null
        when lower(predicate_id) in ('skos:exactmatch', 'owl:equivalentclass', 'owl:sameas')
            then 'same_as'
        when lower(predicate_id) in ('iao:0100001', 'obo:iao_0100001') then 'replaced_by'
        when lower(predicate_id) in ('skos:closematch', 'oboinowl:consider')
            then 'possibly_equivalent_to'
        when lower(predicate_id) = 'oboinowl:hasdbxref' then 'cross_reference'
    end as kind
from modified;
