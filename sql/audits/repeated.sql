-- Names that an active concept has more than once when case is ignored.
--
-- reads   active_name
-- writes  a row per concept and name, key (concept1, term1)

select
    'repeated' as kind,
    concept_id as concept1,
    min(term) as term1,
    concept_id as concept2,
    max(term) as term2,
    0 as distance
from active_name
group by
    concept_id,
    node_id
having sum(n_descriptions) > 1
order by
    concept1,
    term1;
