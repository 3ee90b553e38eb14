-- The concepts that a code stands for when a corpus cites it.
--
-- A code of the terminology's own vocabulary is a concept's id. An id such as HP:0001658 gives its
-- vocabulary as a prefix, sometimes under another name, as MESH in MESH:D003920 for MSH. An id
-- without a prefix that has the form of MeSH or UMLS is theirs if the vocabulary is unknown. Other
-- codes are codes of concepts in other vocabularies. Only active concepts count. Vocabularies have
-- their names in UMLS, in upper case.
--
-- reads   concept, code
--         concept_identifier: ids that are addresses or have an underscore, as CURIEs
--         vocabulary_prefix: prefixes of ids whose vocabularies have other names, key prefix
-- writes  cited_code: a row per code, key (vocabulary, code); if it has several concepts, the
--         smallest id is given
-- params  $vocabulary text: the terminology's own vocabulary

create or replace table cited_code as

with cited as (
    select
        vocabulary,
        code,
        concept_id
    from code
    where vocabulary is distinct from $vocabulary
    union all
    select
        $vocabulary as vocabulary,
        concept_id as code,
        concept_id
    from concept
    where $vocabulary is not null
    union all
    select
        case when concept_id similar to 'C[0-9]{7}' then 'UMLS' else 'MSH' end as vocabulary,
        concept_id as code,
        concept_id
    from concept
    where
        $vocabulary is null
        and concept_id similar to 'C[0-9]{7}|[CD][0-9]{6}([0-9]{3})?'
    union all
    select
        split_part(concept_id, ':', 1) as vocabulary,
        substr(concept_id, strpos(concept_id, ':') + 1) as code,
        concept_id
    from concept
    where contains(concept_id, ':')
    union all
    select
        split_part(identifier, ':', 1) as vocabulary,
        substr(identifier, strpos(identifier, ':') + 1) as code,
        concept_id
    from concept_identifier
)

select
    upper(coalesce(p.vocabulary, d.vocabulary)) as vocabulary,
    d.code,
    min(d.concept_id) as concept_id,
    count(distinct d.concept_id) as n_concepts
from cited as d
inner join concept as c on d.concept_id = c.concept_id
left join vocabulary_prefix as p on upper(d.vocabulary) = p.prefix
where c.active
group by all
order by all;
