-- Pairs of forms that have something in common, with the first of the groups that hold.
--
-- reads   form: forms with the number of their lemma and their initials, key form_id
--         form_name
--         alike: pairs of forms whose labels are similar, key (form1, form2)
-- writes  form_pair: a row per pair, the smaller form first, key (form1, form2); group_rank counts
--         the groups from 0 in the order in which they are tried
-- cites   Rouhizadeh et al. 2024, Methods

create or replace table form_pair as

with identical as (
    select
        a.form_id as one,
        b.form_id as other,
        0 as group_rank
    from form as a
    inner join form as b on a.lemma_id = b.lemma_id
),

abbreviated as (
    select
        a.form_id as one,
        b.form_id as other,
        1 as group_rank
    from form as a
    inner join form as b on a.initials = b.lower_term
),

synonymous as (
    select
        a.form_id as one,
        b.form_id as other,
        2 as group_rank
    from form_name as a
    inner join form_name as b on a.concept_id = b.concept_id
),

resembling as (
    select
        form1 as one,
        form2 as other,
        3 as group_rank
    from alike
),

related as (
    select
        one,
        other,
        group_rank
    from identical
    union all
    select
        one,
        other,
        group_rank
    from abbreviated
    union all
    select
        one,
        other,
        group_rank
    from synonymous
    union all
    select
        one,
        other,
        group_rank
    from resembling
)

select
    least(one, other) as form1,
    greatest(one, other) as form2,
    min(group_rank)::tinyint as group_rank
from related
group by
    form1,
    form2
order by
    form1,
    form2;
