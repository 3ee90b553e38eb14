-- All pairs of a build with the names of their sets, as the checks read them.
--
-- reads   numbered_pair, pair_set
-- writes  macro checked_pair(): a row per pair of each set; low_id and high_id are its terms,
--         whatever its direction

create or replace macro checked_pair() as table
    select
        s.dataset,
        s.difficulty,
        s.negatives,
        p.set_id,
        p.pair_id,
        p.term1_id,
        p.term2_id,
        p.node1_id,
        p.node2_id,
        least(p.term1_id, p.term2_id) as low_id,
        greatest(p.term1_id, p.term2_id) as high_id,
        p.label,
        p.distance,
        p.concept1,
        p.concept2
    from numbered_pair as p
    inner join pair_set as s on p.set_id = s.set_id;
