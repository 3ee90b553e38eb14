-- A positive of fsn_syn is the fully specified name of an active concept and one of its synonyms.
--
-- reads   pair, concept, description
-- writes  the rows that violate this

with justified as (
    select
        f.concept_id,
        f.term as term1,
        s.term as term2
    from concept as c
    inner join description as f on c.concept_id = f.concept_id
    inner join description as s
        on
            f.concept_id = s.concept_id
            and f.language = s.language
    where
        c.active
        and f.active
        and s.active
        and f.kind = 'fsn'
        and s.kind = 'synonym'
)

select
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id
from pair as p
anti join justified as j
    on
        p.concept1 = j.concept_id
        and p.concept2 = j.concept_id
        and p.term1 = j.term1
        and p.term2 = j.term2
where
    p.label = 1
    and p.dataset = 'fsn_syn'
order by
    p.dataset,
    p.difficulty,
    p.negatives,
    p.pair_id;
