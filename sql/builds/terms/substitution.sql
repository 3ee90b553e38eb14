-- A retired concept and its substitute, as a pair of terms that are not both names of one concept.
--
-- Two names of one concept are left out, because they are synonyms, and so are pairs whose
-- substitute is a namespace. A concept that is merely synonymous is not a substitute.
--
-- reads   association, substitution_name, name, term
-- writes  substitution: a row per active association, key (kind, concept1, concept2)
-- cites   Schulz and Juric 2020, section 3.2

create or replace table substitution as

with paired as (
    select
        a.kind,
        a.source_id as concept1,
        a.target_id as concept2,
        s.term_id as term1_id,
        t.term_id as term2_id,
        s.node_id as node1_id,
        t.node_id as node2_id
    from association as a
    inner join substitution_name as sn on a.source_id = sn.concept_id
    inner join substitution_name as tn on a.target_id = tn.concept_id
    inner join term as s on sn.term = s.term
    inner join term as t on tn.term = t.term
    where
        a.active
        and a.kind <> 'synonymous'
        and not tn.is_namespace
),

synonymous as (
    select
        p.term1_id,
        p.term2_id
    from paired as p
    inner join name as n1 on p.term1_id = n1.term_id
    inner join name as n2
        on
            p.term2_id = n2.term_id
            and n1.concept_id = n2.concept_id
)

select
    p.kind,
    p.concept1,
    p.concept2,
    p.term1_id,
    p.term2_id,
    p.node1_id,
    p.node2_id
from paired as p
anti join synonymous as s
    on
        p.term1_id = s.term1_id
        and p.term2_id = s.term2_id
order by
    p.kind,
    p.concept1,
    p.concept2;
