-- The rows of sets: texts for term ids, an id for each pair, in an order drawn from the seed.
--
-- The id of a pair is half the MD5 of the length of its first term, a colon and both terms, so it
-- depends on the two texts alone.
--
-- reads   pair_draft: set_name, term1_id, term2_id, label, distance, concept1, concept2; term
-- writes  a row per pair of a set, key (set_name, pair_id)
-- params  $seed text: of the order

select
    d.set_name,
    left(md5(length(t1.term) || ':' || t1.term || t2.term), 16) as pair_id,
    t1.term as term1,
    t2.term as term2,
    d.label,
    d.distance,
    d.concept1,
    d.concept2
from pair_draft as d
inner join term as t1 on d.term1_id = t1.term_id
inner join term as t2 on d.term2_id = t2.term_id
order by
    d.set_name,
    md5($seed || ' ' || pair_id),
    pair_id,
    t1.term,
    t2.term;
