-- The age of each group: it is new if an earlier build has none of its concepts and terms, and
-- mixed if the earlier build has some of them but not all.
--
-- reads   concept_group, numbered_concept, concept_term, term, earlier_concept: concept_id,
--         earlier_term: lower_term
-- writes  a row per group, key group_id: is_new, is_mixed

with part as (
    select
        g.group_id,
        e.concept_id is not null as is_known
    from concept_group as g
    left join earlier_concept as e on g.concept_id = e.concept_id
    union all
    select
        g.group_id,
        e.lower_term is not null as is_known
    from concept_term as b
    inner join numbered_concept as m on b.concept_number = m.concept_number
    inner join concept_group as g on m.concept_id = g.concept_id
    inner join term as t on b.term_id = t.term_id
    left join earlier_term as e on t.lower_term = e.lower_term
)

select
    group_id,
    not bool_or(is_known) as is_new,
    bool_or(is_known) and not bool_and(is_known) as is_mixed
from part
group by group_id
order by group_id;
