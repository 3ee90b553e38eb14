-- The names of eligible concepts, each once when case is ignored.
--
-- reads   concept_category, name, term, term_component
-- writes  a row per name, key node_id: its smallest concept, of those with a category if there are
--         any, and how that concept spells it

with spelt as (
    select
        n.node_id,
        t.lower_term,
        c.component_id,
        n.concept_id,
        n.term_id,
        t.term,
        g.category is not null as has_category
    from name as n
    inner join term as t on n.term_id = t.term_id
    inner join term_component as c on n.term_id = c.term_id
    left join concept_category as g on n.concept_id = g.concept_id
    qualify row_number() over (
        partition by n.node_id
        order by
            g.category is null,
            n.concept_id,
            n.term_id
    ) = 1
)

select
    node_id,
    lower_term,
    component_id,
    concept_id,
    term_id,
    term,
    has_category
from spelt
order by node_id;
