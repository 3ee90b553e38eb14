-- The positives of a dataset that are no two names of an active concept, the first of which is of
-- some kinds and the second of others.
--
-- reads   checked_pair, numbered_name
-- writes  macro unfounded_name_pair(of_dataset, kinds1, kinds2): dataset, difficulty, negatives,
--         pair_id

create or replace macro unfounded_name_pair(of_dataset, kinds1, kinds2) as table
    with positive as (
        select
            p.dataset,
            p.difficulty,
            p.negatives,
            p.pair_id,
            f.kind as kind1,
            o.kind as kind2
        from checked_pair() as p
        left join numbered_name as f
            on
                p.concept1 = f.concept_id
                and p.term1_id = f.term_id
        left join numbered_name as o
            on
                p.concept1 = p.concept2
                and p.concept2 = o.concept_id
                and p.term2_id = o.term_id
                and f.language = o.language
        where p.label = 1
    )

    select
        dataset,
        difficulty,
        negatives,
        pair_id
    from positive
    where dataset = of_dataset
    group by all
    having bool_or(list_contains(kinds1, kind1) and list_contains(kinds2, kind2)) is not true;
