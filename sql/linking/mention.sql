-- The mentions of corpora with their concepts, and what kind of name they are.
--
-- Equal mentions have the same query. Codes of one concept count once.
--
-- reads   annotation: a row per mention; annotation_code, cited_code, gold, name
-- writes  mention: a row per mention, key mention_id

create or replace table mention as

with coded as (
    select
        a.mention_id,
        count(distinct coalesce(c.concept_id, a.vocabulary || ':' || a.code)) as n_parts
    from annotation_code as a
    left join cited_code as c
        on
            a.vocabulary = c.vocabulary
            and a.code = c.code
            and c.n_concepts = 1
    group by a.mention_id
),

known as (
    select
        item_id as mention_id,
        string_agg(concept_id, '|' order by concept_id) as concepts
    from gold
    group by item_id
),

judged as (
    select
        a.mention_id,
        a.corpus,
        a.document_id,
        a.start,
        a."end",
        a.term,
        a.type,
        a.lower_term,
        k.concepts,
        case
            when c.n_parts is null then 'no_concept'
            when k.concepts is null then 'unknown_concept'
            when c.n_parts > 1 then 'composite'
            else 'known'
        end as status,
        coalesce(n.n_concepts, 0) as n_named,
        len(regexp_replace(a.term, '[^\p{Lu}]', '', 'g')) as n_capitals
    from annotation as a
    left join coded as c on a.mention_id = c.mention_id
    left join known as k on a.mention_id = k.mention_id
    left join name as n on a.lower_term = n.lower_term
)

select
    mention_id,
    corpus,
    document_id,
    start,
    "end",
    term,
    type,
    lower_term,
    concepts,
    status,
    n_named,
    regexp_full_match(term, '\S{2,10}')
    and n_capitals > 1
    and 2 * n_capitals > len(term) as is_abbreviation,
    cast(dense_rank() over (order by lower_term, term) - 1 as integer) as query_id
from judged
order by mention_id;
