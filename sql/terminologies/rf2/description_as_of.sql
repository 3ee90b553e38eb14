-- Descriptions as they stood on one day: the newest row of each that is not after it.
--
-- reads   rf2_description: full history or snapshot, key (id, effective_time)
-- writes  description_as_of: a row per description, key description_id; kind is null where the
--         type is no name; term is trimmed, tag is the semantic tag of a fully specified name
-- params  $as_of date: the day; null takes the newest rows

create or replace table description_as_of as

with newest as (
    select
        id,
        effective_time,
        concept_id,
        language,
        active,
        trimmed(term) as term,
        case type_id
            when sctid('fully_specified_name') then 'fsn'
            when sctid('synonym') then 'synonym'
        end as kind
    from newest_rows('rf2_description', $as_of)
),

parted as (
    select
        id,
        effective_time,
        concept_id,
        language,
        active,
        term,
        kind,
        case when kind = 'fsn' then tag_parts(term) end as parts
    from newest
),

older as (
    select id
    from newest
    where
        kind = 'fsn'
        and active
        and term <> ''
    qualify row_number() over (
        partition by concept_id, language
        order by effective_time desc, id asc
    ) > 1
)

select
    p.id as description_id,
    p.effective_time,
    p.concept_id,
    p.language,
    p.active,
    p.kind,
    coalesce(p.parts.term, p.term) as term,
    coalesce(p.parts.tag, '') as tag,
    o.id is not null as outranked
from parted as p
left join older as o on p.id = o.id;
