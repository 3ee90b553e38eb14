-- The pairs of chosen sets, each once regardless of direction, in an order drawn from the seed.
--
-- Sets repeat pairs: syn_syn contains fsn_syn, and strategies of negatives share their positives.
-- Of the two directions, the smaller (term1, term2) is kept, with the smallest concepts. The order
-- is that of a hash of the seed and the pair's id, which depends only on the pair's two texts.
--
-- reads   pair, chosen_set: dataset, difficulty; term: term_id, term
-- writes  a row per pair, key (term1_id, term2_id); an id is null if a text is not in term
-- params  $negatives text: the strategy
--         $min_label integer: 1 for positives alone, 0 for negatives as well
--         $seed text: random seed of the order

with labelled as (
    select
        dataset,
        difficulty,
        pair_id,
        term1,
        term2,
        label,
        distance,
        concept1,
        concept2
    from pair
    where
        negatives = $negatives
        and label >= $min_label
),

chosen as (
    select
        p.pair_id,
        t1.term_id as term1_id,
        t2.term_id as term2_id,
        p.label,
        p.distance,
        p.concept1,
        p.concept2
    from labelled as p
    inner join chosen_set as s
        on
            p.dataset = s.dataset
            and p.difficulty = s.difficulty
    left join term as t1 on p.term1 = t1.term
    left join term as t2 on p.term2 = t2.term
)

select
    pair_id,
    term1_id,
    term2_id,
    label,
    distance,
    concept1,
    concept2
from chosen
qualify
    row_number() over (
        partition by least(term1_id, term2_id), greatest(term1_id, term2_id)
        order by term1_id, term2_id, concept1, concept2
    ) = 1
order by
    md5($seed || ' ' || pair_id),
    pair_id,
    term1_id,
    term2_id;
