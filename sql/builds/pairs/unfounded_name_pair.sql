-- The positives of a dataset that are not two names of one active concept in the first language of
-- the build, the first of a kind in kinds1 and the second of a kind in kinds2.
--
-- reads   numbered_pair, numbered_name, pair_set
-- writes  macro unfounded_name_pair(of_dataset, kinds1, kinds2): set_id, row

create or replace macro unfounded_name_pair(of_dataset, kinds1, kinds2) as table
    with dataset_set as (
        select set_id
        from pair_set
        where dataset = of_dataset
    ),

    positive as (
        select
            p.set_id,
            p.row,
            p.term1_id,
            p.term2_id,
            p.concept1,
            p.concept2
        from numbered_pair as p
        semi join dataset_set as s on p.set_id = s.set_id
        where p.label = 1
    ),

    first_name as (
        select
            concept_number,
            term_id
        from numbered_name
        where
            language_number = 0
            and list_contains(kinds1, kind)
    ),

    second_name as (
        select
            concept_number,
            term_id
        from numbered_name
        where
            language_number = 0
            and list_contains(kinds2, kind)
    ),

    valid as (
        select
            p.set_id,
            p.row
        from positive as p
        inner join first_name as f
            on
                p.concept1 = f.concept_number
                and p.term1_id = f.term_id
        inner join second_name as o
            on
                p.concept2 = o.concept_number
                and p.term2_id = o.term_id
        where p.concept1 = p.concept2
    )

    select
        p.set_id,
        p.row
    from positive as p
    anti join valid as f
        on
            p.set_id = f.set_id
            and p.row = f.row;
