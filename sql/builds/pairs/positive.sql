-- The positives of a dataset: candidate pairs whose terms differ when case is ignored, each once
-- and in one direction.
--
-- If both directions occur, the smaller (term1, term2) is kept; if several concepts give a pair,
-- the smallest concept ids are kept, of those in the first languages of the build.
--
-- reads   $candidates: candidate pairs; described_concept
-- writes  a row per pair, key (term1_id, term2_id); concept1 and concept2 are numbers; language1
--         and language2 are null for datasets of one language
-- params  $candidates text: name of the table

with candidate as (
    select
        null::tinyint as language1,
        null::tinyint as language2
    where false
    union all by name
    from query_table($candidates)
),

directed as (
    select
        term1_id,
        term2_id,
        min(
            {
                'language1': language1,
                'language2': language2,
                'concept1': concept1,
                'concept2': concept2
            }
        ) as concepts
    from candidate
    where node1_id <> node2_id
    group by all
)

select
    kept.term1_id,
    kept.term2_id,
    first.concept_number as concept1,
    second.concept_number as concept2,
    kept.concepts.language1::tinyint as language1,
    kept.concepts.language2::tinyint as language2
from directed as kept
inner join described_concept as first on kept.concepts.concept1 = first.concept_id
inner join described_concept as second on kept.concepts.concept2 = second.concept_id
left join directed as mirrored
    on
        kept.term1_id = mirrored.term2_id
        and kept.term2_id = mirrored.term1_id
where
    kept.term1_id < kept.term2_id
    or mirrored.term1_id is null
order by
    kept.concepts.language1,
    kept.concepts.language2,
    kept.term1_id,
    kept.term2_id;
