-- The number of associations from each split to another split.
--
-- reads   association, concept_split
-- writes  a row per split with such associations, key split

with apart as (
    select
        s.split as split1,
        t.split as split2
    from association as a
    inner join concept_split as s on a.source_id = s.concept_id
    inner join concept_split as t on a.target_id = t.concept_id
    where s.split <> t.split
),

ended as (
    select split1 as split
    from apart
    union all
    select split2 as split
    from apart
)

select
    split,
    count(*) as n_rows
from ended
group by split
order by split;
