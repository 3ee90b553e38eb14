-- The concepts that people can choose for a code: what replaces a concept that was decided on comes
-- first, then what was decided on, then the candidates.
--
-- reads   asked_code, candidate, open_decision, standard_name
-- writes  rows of place, id, name, difference, probability, local_name and matched_name, key
--         (place, id); local_name and matched_name are null if they are the names of code and
--         concept
-- params  $max_codes integer: number of codes

with offer as (
    select
        code,
        replacement_id as concept_id,
        -1 as turn
    from open_decision
    union all
    select
        code,
        concept_id,
        0 as turn
    from open_decision
    union all
    select
        code,
        concept_id,
        rank as turn
    from candidate
),

first_offer as (
    select
        code,
        concept_id,
        min(turn) as turn
    from offer
    group by
        code,
        concept_id
),

main_name as (
    select
        concept_id,
        arg_min(term, (not is_main, term)) as name
    from standard_name
    group by concept_id
)

select
    a.place,
    m.concept_id as id,
    m.name,
    c.difference,
    c.probability,
    nullif(c.local_name, a.name) as local_name,
    nullif(c.matched_name, m.name) as matched_name
from asked_code as a
inner join first_offer as f on a.code = f.code
inner join main_name as m on f.concept_id = m.concept_id
left join candidate as c on f.code = c.code and f.concept_id = c.concept_id
where a.place < $max_codes
order by
    a.place,
    f.turn,
    m.concept_id;
