-- How many mentions stand for no concept, and why.
--
-- reads   mention, concept, code, linked_mention
-- writes  a row per reason, key reason
-- params  $vocabulary text: the terminology's own

with candidate as (
    select
        k.vocabulary,
        k.code,
        k.concept_id
    from code as k
    inner join concept as c on k.concept_id = c.concept_id
    where
        c.active
        and k.vocabulary is distinct from $vocabulary
    union all
    select
        $vocabulary as vocabulary,
        c.concept_id as code,
        c.concept_id
    from concept as c
    where c.active
),

known as (
    select
        vocabulary,
        code,
        count(distinct concept_id) as n_concepts
    from candidate
    group by
        vocabulary,
        code
),

outcome as (
    select
        m.sentence,
        m."start" as start_at,
        m."end" as end_at,
        coalesce(k.n_concepts, 0) as n_concepts
    from mention as m
    left join known as k
        on
            m.vocabulary = k.vocabulary
            and m.code = k.code
),

judged as (
    select
        case
            when o.n_concepts = 0 then 'mention has a code that the terminology does not know'
            when o.n_concepts > 1 then 'mention has a code of several concepts'
            when l.sentence is null then 'mention is linked to several concepts by several corpora'
        end as reason
    from outcome as o
    left join linked_mention as l
        on
            o.sentence = l.sentence
            and o.start_at = l.start_at
            and o.end_at = l.end_at
            and o.n_concepts = 1
)

select
    reason,
    count(*) as n_rows
from judged
where reason is not null
group by reason
order by reason;
