-- The triples of an ontology in a database of semantic-sql, with whole IRIs.
--
-- It runs in SQLite. An identifier is an IRI in angle brackets, a prefix and a local part, or "_:"
-- and the name of a node without an IRI.
--
-- reads   statements, prefix, of semantic-sql
-- writes  a row per triple, in the order of the database; language is '' for a literal without one
--         and null for an identifier

with
base_of as (
    select
        prefix || ':' as prefix,
        max(base) as base
    from prefix
    group by prefix
)

select
    case
        when s.subject like '<%' then substr(s.subject, 2, length(s.subject) - 2)
        else coalesce(bs.base || substr(s.subject, length(bs.prefix) + 1), s.subject)
    end as subject,
    case
        when s.predicate like '<%' then substr(s.predicate, 2, length(s.predicate) - 2)
        else coalesce(bp.base || substr(s.predicate, length(bp.prefix) + 1), s.predicate)
    end as predicate,
    case
        when s.object is null then cast(coalesce(s.value, '') as text)
        when s.object like '<%' then substr(s.object, 2, length(s.object) - 2)
        else coalesce(bo.base || substr(s.object, length(bo.prefix) + 1), s.object)
    end as object,
    case when s.object is null then coalesce(s.language, '') end as language
from statements as s
left join base_of as bs on substr(s.subject, 1, instr(s.subject, ':')) = bs.prefix
left join base_of as bp on substr(s.predicate, 1, instr(s.predicate, ':')) = bp.prefix
left join base_of as bo on substr(s.object, 1, instr(s.object, ':')) = bo.prefix
order by s.rowid;
