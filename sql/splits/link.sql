-- The links that keep concepts in one split: from each concept to the components of its terms, and
-- to the concepts that the terminology calls synonymous with it.
--
-- Terms that are equal when case is ignored are in one component, and so are terms that positives
-- or corrections link. The number of the first component is the number of concepts.
--
-- reads   concept_term, term_component, numbered_concept, association
-- writes  a row per link, key (left_id, right_id)

with of_term as (
    select distinct
        b.concept_number as left_id,
        c.component_id + (select count(*) from numbered_concept) as right_id
    from concept_term as b
    inner join term_component as c on b.term_id = c.term_id
),

of_concept as (
    select distinct
        s.concept_number as left_id,
        t.concept_number as right_id
    from association as a
    inner join numbered_concept as s on a.source_id = s.concept_id
    inner join numbered_concept as t on a.target_id = t.concept_id
    where
        a.active
        and a.kind = 'synonymous'
)

select
    cast(left_id as integer) as left_id,
    cast(right_id as integer) as right_id
from of_term
union all
select
    left_id,
    right_id
from of_concept
order by all;
