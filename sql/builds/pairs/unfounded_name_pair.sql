-- The positives of a dataset that are no two names of an active concept, the first of which is of
-- some kinds and the second of others.
--
-- reads   numbered_pair, numbered_name, pair_set
-- writes  macro unfounded_name_pair(of_dataset, kinds1, kinds2): set_id, row

create or replace macro unfounded_name_pair(of_dataset, kinds1, kinds2) as table
    with positive as (
        select
            p.set_id,
            p.row,
            p.term1_id,
            p.term2_id,
            p.concept1,
            p.concept2
        from numbered_pair as p
        inner join pair_set as s on p.set_id = s.set_id
        where
            p.label = 1
            and s.dataset = of_dataset
    ),

    founded as (
        select
            p.set_id,
            p.row
        from positive as p
        inner join numbered_name as f
            on
                p.concept1 = f.concept_number
                and p.term1_id = f.term_id
        inner join numbered_name as o
            on
                p.concept2 = o.concept_number
                and p.term2_id = o.term_id
                and f.language = o.language
        where
            p.concept1 = p.concept2
            and list_contains(kinds1, f.kind)
            and list_contains(kinds2, o.kind)
    )

    select
        p.set_id,
        p.row
    from positive as p
    anti join founded as f
        on
            p.set_id = f.set_id
            and p.row = f.row;
