-- The concepts at both ends of mappings.
--
-- A concept has its id, such as HP:0001658, or the code of its vocabulary, such as mesh:D003920.
-- Prefixes are compared by UMLS's names of their vocabularies, ignoring case.
--
-- reads   concept, mapping
--         concept_identifier: ids that are addresses or have an underscore, as CURIEs
--         vocabulary_prefix: prefixes of ids whose vocabularies have other names, key prefix
-- writes  mapped: a row per mapping and pair of concepts; source_id and target_id are null where an
--         end is not a concept; outcome is association, code, or why the mapping is left out
-- params  $vocabulary text: the terminology's own vocabulary

create or replace table mapped as

with identified as (
    select
        concept_id,
        $vocabulary as vocabulary,
        concept_id as code
    from concept
    where $vocabulary is not null
    union all
    select
        concept_id,
        split_part(concept_id, ':', 1) as vocabulary,
        substr(concept_id, strpos(concept_id, ':') + 1) as code
    from concept
    where contains(concept_id, ':')
    union all
    select
        concept_id,
        split_part(identifier, ':', 1) as vocabulary,
        substr(identifier, strpos(identifier, ':') + 1) as code
    from concept_identifier
),

known as (
    select distinct
        i.concept_id,
        upper(coalesce(p.vocabulary, i.vocabulary)) as vocabulary,
        i.code
    from identified as i
    left join vocabulary_prefix as p on upper(i.vocabulary) = p.prefix
),

named as (
    select
        coalesce(s.vocabulary, m.subject_vocabulary) as subject_vocabulary,
        m.subject_code,
        coalesce(o.vocabulary, m.object_vocabulary) as object_vocabulary,
        m.object_code,
        m.relation,
        m.kind
    from mapping as m
    left join vocabulary_prefix as s on upper(m.subject_vocabulary) = s.prefix
    left join vocabulary_prefix as o on upper(m.object_vocabulary) = o.prefix
)

select
    n.subject_vocabulary,
    n.subject_code,
    n.object_vocabulary,
    n.object_code,
    n.kind,
    s.concept_id as source_id,
    t.concept_id as target_id,
    case
        when n.relation is null then 'mapping is negated or has no object'
        when n.kind is null then 'mapping has the predicate ' || n.relation
        when s.concept_id is null and t.concept_id is null then 'mapping is of no concept'
        when s.concept_id = t.concept_id then 'mapping is of a concept to itself'
        when n.kind = 'cross_reference' and s.concept_id is not null and t.concept_id is not null
            then 'cross-reference is within the terminology'
        when s.concept_id is not null and t.concept_id is not null then 'association'
        when n.kind not in ('same_as', 'cross_reference')
            then 'mapping to another vocabulary is not exact'
        when not regexp_matches(concat_ws(' ', n.subject_code, n.object_code), '^[^/ ].* [^/ ]')
            then 'mapping has no identifier with a prefix'
        else 'code'
    end as outcome
from named as n
left join known as s
    on
        upper(n.subject_vocabulary) = s.vocabulary
        and n.subject_code = s.code
left join known as t
    on
        upper(n.object_vocabulary) = t.vocabulary
        and n.object_code = t.code;
