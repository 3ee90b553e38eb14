-- Blocks of instances: all pairs of the mentions of two cells, with one group and one label.
--
-- A cell has the mentions of one form that stand for one concept.
--
-- reads   cell: with the rows of its mentions, key cell_id; ids are in order of form and concept
--         form, form_pair, related_concept
-- writes  a row per block, key (begin1, begin2), with the smaller lemma number first

with paired as (
    select
        a.cell_id as cell1,
        b.cell_id as cell2,
        a.begin_row as begin1,
        a.end_row as end1,
        b.begin_row as begin2,
        b.end_row as end2,
        p.group_rank,
        a.concept_id as left_id,
        b.concept_id as right_id,
        f.lemma_id as lemma1,
        g.lemma_id as lemma2
    from form_pair as p
    inner join cell as a on p.form1 = a.form_id
    inner join cell as b on p.form2 = b.form_id
    inner join form as f on p.form1 = f.form_id
    inner join form as g on p.form2 = g.form_id
    where
        a.cell_id < b.cell_id
        or (a.cell_id = b.cell_id and a.end_row - a.begin_row > 1)
)

select
    q.begin1,
    q.end1,
    q.begin2,
    q.end2,
    q.group_rank,
    (q.left_id = q.right_id)::tinyint as label,
    least(q.lemma1, q.lemma2) as lemma1,
    greatest(q.lemma1, q.lemma2) as lemma2
from paired as q
left join related_concept as r
    on
        least(q.left_id, q.right_id) = r.concept1
        and greatest(q.left_id, q.right_id) = r.concept2
where r.concept1 is null
order by
    q.begin1,
    q.begin2;
