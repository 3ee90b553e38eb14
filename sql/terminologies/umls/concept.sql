-- Concepts with their semantic type; a concept is active if any of its atoms is not suppressed.
--
-- Of several types, the one with the smallest identifier is taken.
--
-- reads   umls_atom, semantic_type
-- writes  concept: a row per concept, key concept_id; the tag is empty if there is none

create or replace table concept as

with standing as (
    select
        concept_id,
        bool_or(suppressed = 'N') as active
    from umls_atom
    group by concept_id
),

tagged as (
    select
        concept_id,
        arg_min(semantic_type, type_id) as semantic_tag
    from semantic_type
    group by concept_id
)

select
    s.concept_id,
    s.active,
    '' as module_id,
    coalesce(t.semantic_tag, '') as semantic_tag
from standing as s
left join tagged as t on s.concept_id = t.concept_id
order by s.concept_id;
