-- The altered names that stand for their concept alone, and can be looked up.
--
-- All names nearest to an altered name are names of its concept, and of no other. The concept has
-- one more name besides the unaltered and the altered one. Equal altered names of a concept count
-- once.
--
-- reads   altered: place, kind, n_errors, term, noisy_term, lower_noisy
--         nearest: the names nearest to altered ones: query, match
--         noise_name, term, name
-- writes  rows of kind, n_errors, term, lower_term, noisy_term, lower_noisy and concept_id, in
--         order of place; key (kind, n_errors, term)
-- params  $max_items int: the most of a kind and number of errors

with bearer as (
    select distinct
        t.lower_term,
        n.concept_id
    from term as t
    left join name as n on t.node_id = n.node_id
),

owner as (
    select
        n.query,
        min(b.concept_id) as concept_id
    from nearest as n
    inner join bearer as b on n.match = b.lower_term
    group by n.query
    having count(distinct b.concept_id) = 1 and count(b.concept_id) = count(*)
),

kept as (
    select
        a.*,
        m.lower_term,
        m.concept_id
    from altered as a
    inner join noise_name as m on a.term = m.term
    inner join owner as o
        on
            a.lower_noisy = o.query
            and m.concept_id = o.concept_id
    semi join noise_name as r
        on
            m.concept_id = r.concept_id
            and m.lower_term != r.lower_term
            and a.lower_noisy != r.lower_term
    qualify row_number() over (
        partition by
            a.kind,
            a.n_errors,
            a.lower_noisy
        order by a.place
    ) = 1
)

select
    kind,
    n_errors,
    term,
    lower_term,
    noisy_term,
    lower_noisy,
    concept_id
from kept
qualify
    row_number() over (
        partition by
            kind,
            n_errors
        order by place
    ) <= $max_items
order by place;
