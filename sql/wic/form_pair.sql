-- Pairs of forms that belong to a group of related forms, with the first group that applies.
--
-- reads   form: forms with the number of their lemma and their initials, key form_id
--         form_name
--         alike: pairs of forms whose labels are similar, key (form1, form2)
-- writes  form_pair: a row per pair, the smaller form first, key (form1, form2); group_rank
--         numbers the groups from 0 in the order in which they are tried
-- cites   Rouhizadeh et al. 2024, Methods

create or replace table form_pair as

with related as (
    select
        a.form_id as left_id,
        b.form_id as right_id,
        0 as group_rank  -- term_identity
    from form as a
    inner join form as b on a.lemma_id = b.lemma_id
    union all
    select
        a.form_id as left_id,
        b.form_id as right_id,
        1 as group_rank  -- abbreviations
    from form as a
    inner join form as b on a.initials = b.lower_term
    union all
    select
        a.form_id as left_id,
        b.form_id as right_id,
        2 as group_rank  -- synonyms
    from form_name as a
    inner join form_name as b on a.concept_id = b.concept_id
    union all
    select
        form1 as left_id,
        form2 as right_id,
        3 as group_rank  -- label_similarity
    from alike
)

select
    least(left_id, right_id) as form1,
    greatest(left_id, right_id) as form2,
    min(group_rank)::tinyint as group_rank
from related
group by all
order by all;
