-- Names that an active concept has more than once: exactly the same, or in different upper and
-- lower case.
--
-- Texts that are the same in Unicode's normal form C are the same.
--
-- reads   active_name
-- writes  a row per kind, concept and name, key (kind, concept1, term1)

select
    'listed_twice' as kind,
    concept_id as concept1,
    min(term) as term1,
    concept_id as concept2,
    max(term) as term2,
    0 as distance
from active_name
group by
    concept_id,
    nfc_normalize(term)
having sum(n_descriptions) > 1
union all
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
having count(distinct nfc_normalize(term)) > 1
order by
    kind,
    term1,
    term2,
    concept1;
