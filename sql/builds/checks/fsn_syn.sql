-- A positive of fsn_syn is the fully specified name of an active concept and one of its synonyms.
--
-- reads   numbered_pair, pair_set, numbered_name
-- writes  the rows that violate this

with justified as (
    select
        f.concept_id,
        f.term_id as term1_id,
        o.term_id as term2_id
    from numbered_name as f
    inner join numbered_name as o
        on
            f.concept_id = o.concept_id
            and f.language = o.language
    where
        f.kind = 'fsn'
        and o.kind = 'synonym'
)

select
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id
from numbered_pair as p
inner join pair_set as s on p.set_id = s.set_id
anti join justified as j
    on
        p.concept1 = j.concept_id
        and p.concept2 = j.concept_id
        and p.term1_id = j.term1_id
        and p.term2_id = j.term2_id
where
    p.label = 1
    and s.dataset = 'fsn_syn'
order by
    s.dataset,
    s.difficulty,
    s.negatives,
    p.pair_id;
