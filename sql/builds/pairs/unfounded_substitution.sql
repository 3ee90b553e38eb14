-- The positives of a dataset that are no active association of its kind, or a pair of syn_syn.
--
-- reads   checked_pair, association
-- writes  macro unfounded_substitution(of_dataset): dataset, difficulty, negatives, pair_id

create or replace macro unfounded_substitution(of_dataset) as table
    with positive as (
        select
            p.dataset,
            p.difficulty,
            p.negatives,
            p.pair_id,
            a.source_id is null or y.pair_id is not null as is_unfounded
        from checked_pair() as p
        left join association as a
            on
                p.concept1 = a.source_id
                and p.concept2 = a.target_id
                and p.dataset = a.kind
                and a.active
        left join checked_pair() as y
            on
                y.dataset = 'syn_syn'
                and y.label = 1
                and p.negatives = y.negatives
                and p.low_id = y.low_id
                and p.high_id = y.high_id
        where p.label = 1
    )

    select distinct
        dataset,
        difficulty,
        negatives,
        pair_id
    from positive
    where
        is_unfounded
        and dataset = of_dataset;
