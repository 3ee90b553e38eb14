-- The positives of a dataset: its candidate pairs without those equal when case is ignored, each
-- once and in one direction.
--
-- Where both directions occur, the one that is smaller by (term1, term2) stays; where several
-- concepts give it, the smallest concept ids stay.
--
-- reads   $candidates: candidate pairs
-- writes  a row per pair, key (term1_id, term2_id)
-- params  $candidates text: the name of the table

with directed as (
    select
        term1_id,
        term2_id,
        min({ 'concept1': concept1, 'concept2': concept2 }) as concepts
    from query_table($candidates)
    where node1_id <> node2_id
    group by all
)

select
    kept.term1_id,
    kept.term2_id,
    kept.concepts.concept1,
    kept.concepts.concept2
from directed as kept
left join directed as mirrored
    on
        kept.term1_id = mirrored.term2_id
        and kept.term2_id = mirrored.term1_id
where
    kept.term1_id < kept.term2_id
    or mirrored.term1_id is null
order by
    kept.term1_id,
    kept.term2_id;
