-- Each pair of synonyms once, even if several sets of the build have it.
--
-- If datasets have a pair in both directions, the smaller (term1, term2) is kept; if several
-- concepts give a pair, the smallest concept ids are kept.
--
-- reads   pair
-- writes  view positive: a row per pair in one direction, key (term1, term2), in order of pair_id,
--         so that the first rows are a sample of all

create or replace view positive as

with directed as (
    select
        min(
            {
                'term1': term1,
                'term2': term2,
                'concept1': concept1,
                'concept2': concept2,
                'pair_id': pair_id
            }
        ) as first_pair,
        min(distance) as distance,
        min(difficulty) as difficulty,
        list_sort(list(distinct dataset)) as datasets
    from pair
    where
        label = 1
        and dataset <> 'parent_child'
    group by
        least(term1, term2),
        greatest(term1, term2)
)

select
    d.first_pair.pair_id,
    d.first_pair.term1,
    d.first_pair.term2,
    d.distance,
    d.difficulty,
    d.first_pair.concept1,
    d.first_pair.concept2,
    d.datasets
from directed as d
order by
    d.first_pair.pair_id,
    d.first_pair.term1,
    d.first_pair.term2;
