-- A positive of parent_child is the fully specified names of a concept and of its parent, and no
-- concept with a term of a negative is an ancestor of a concept with the other term.
--
-- reads   numbered_pair, pair_set, numbered_name, described_concept, is_a, ancestor, name, term
-- writes  the rows that violate this

with pair as (
    select
        p.set_id,
        p.row,
        p.label,
        p.term1_id,
        p.term2_id,
        p.concept1,
        p.concept2
    from numbered_pair as p
    inner join pair_set as s on p.set_id = s.set_id
    where s.dataset = 'parent_child'
),

main_name as (
    select
        concept_number,
        term_id
    from numbered_name
    where
        kind = 'fsn'
        and language_number = 0
),

parent as (
    select
        c.concept_number as child_number,
        p.concept_number as parent_number
    from is_a as i
    inner join described_concept as c on i.child_id = c.concept_id
    inner join described_concept as p on i.parent_id = p.concept_id
),

bearer as (
    select distinct
        t.term_id,
        c.concept_number
    from term as t
    inner join name as n on t.node_id = n.node_id
    inner join described_concept as c on n.concept_id = c.concept_id
),

founded as (
    select
        p.set_id,
        p.row
    from pair as p
    inner join main_name as f
        on
            p.concept1 = f.concept_number
            and p.term1_id = f.term_id
    inner join main_name as o
        on
            p.concept2 = o.concept_number
            and p.term2_id = o.term_id
    inner join parent as e
        on
            p.concept1 = e.child_number
            and p.concept2 = e.parent_number
),

negative as (
    select
        p.set_id,
        p.row,
        f.concept_number as number1,
        o.concept_number as number2
    from pair as p
    inner join bearer as f on p.term1_id = f.term_id
    inner join bearer as o on p.term2_id = o.term_id
    where p.label = 0
)

select
    p.set_id,
    p.row
from pair as p
anti join founded as f
    on
        p.set_id = f.set_id
        and p.row = f.row
where p.label = 1
union
select
    n.set_id,
    n.row
from negative as n
semi join ancestor as a
    on
        n.number1 = a.concept_number
        and n.number2 = a.ancestor_number
union
select
    n.set_id,
    n.row
from negative as n
semi join ancestor as a
    on
        n.number2 = a.concept_number
        and n.number1 = a.ancestor_number
order by
    set_id,
    row;
