-- All pairs of a build, their terms and sets as numbers, so that rules are checked without texts.
--
-- Two texts have the same number exactly if they are the same. A text that is no term has a
-- negative one, which is a hash, and no node.
--
-- reads   pair, pair_set, term
-- writes  numbered_pair: a row per pair of each set, key (set_id, term1_id, term2_id)

create or replace table numbered_pair as

select
    s.set_id,
    p.pair_id,
    coalesce(t1.term_id, -1 - (hash(p.term1) >> 1)::bigint) as term1_id,
    coalesce(t2.term_id, -1 - (hash(p.term2) >> 1)::bigint) as term2_id,
    t1.node_id as node1_id,
    t2.node_id as node2_id,
    p.label,
    p.distance,
    p.concept1,
    p.concept2
from pair as p
inner join pair_set as s
    on
        p.dataset = s.dataset
        and p.difficulty = s.difficulty
        and p.negatives = s.negatives
left join term as t1 on p.term1 = t1.term
left join term as t2 on p.term2 = t2.term;
