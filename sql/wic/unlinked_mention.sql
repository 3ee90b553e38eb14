-- The number of mentions that stand for no concept, by reason.
--
-- reads   mention, cited_code, linked_mention
-- writes  a row per reason, key reason

with judged as (
    select
        case
            when k.n_concepts is null then 'mention has a code that the terminology does not know'
            when k.n_concepts > 1 then 'mention has a code of several concepts'
            when l.sentence is null then 'mention stands where another concept is mentioned'
        end as reason
    from mention as m
    left join cited_code as k
        on
            m.vocabulary = k.vocabulary
            and m.code = k.code
    left join linked_mention as l
        on
            m.sentence = l.sentence
            and m."start" = l.start_at
            and m."end" = l.end_at
)

select
    reason,
    count(*) as n_rows
from judged
where reason is not null
group by reason
order by reason;
