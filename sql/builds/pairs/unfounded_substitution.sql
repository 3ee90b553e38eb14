-- The positives of a dataset that are not active associations of its kind, or that are in syn_syn.
--
-- reads   numbered_pair, numbered_association, pair_set
-- writes  macro unfounded_substitution(of_dataset): set_id, row

create or replace macro unfounded_substitution(of_dataset) as table
    with dataset_set as (
        select
            set_id,
            dataset,
            negatives
        from pair_set
        where dataset = of_dataset
    ),

    positive as (
        select
            s.dataset,
            s.negatives,
            p.set_id,
            p.row,
            p.concept1,
            p.concept2,
            least(p.term1_id, p.term2_id) as low_id,
            greatest(p.term1_id, p.term2_id) as high_id
        from numbered_pair as p
        inner join dataset_set as s on p.set_id = s.set_id
        where p.label = 1
    ),

    synonymous as (
        select
            s.negatives,
            least(p.term1_id, p.term2_id) as low_id,
            greatest(p.term1_id, p.term2_id) as high_id
        from numbered_pair as p
        inner join pair_set as s on p.set_id = s.set_id
        where
            p.label = 1
            and s.dataset = 'syn_syn'
    )

    select
        p.set_id,
        p.row
    from positive as p
    anti join numbered_association as a
        on
            p.concept1 = a.source_number
            and p.concept2 = a.target_number
            and p.dataset = a.kind
    union
    select
        p.set_id,
        p.row
    from positive as p
    semi join synonymous as y
        on
            p.negatives = y.negatives
            and p.low_id = y.low_id
            and p.high_id = y.high_id;
