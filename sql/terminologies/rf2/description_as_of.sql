-- Descriptions as of one date: the newest row of each that is not later.
--
-- reads   rf2_description: full history or snapshot, key (id, effective_time)
-- writes  description_as_of: a row per description, key description_id; kind is null if the type
--         is not a name; term is trimmed, tag is the semantic tag of a fully specified name
-- params  $as_of date: the date; null takes the newest rows

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

bracketed as (
    select
        id,
        effective_time,
        concept_id,
        language,
        active,
        term,
        kind,
        case when kind = 'fsn' then last_bracket(term) end as inside
    from newest
),

tagged as (
    select
        id,
        effective_time,
        concept_id,
        language,
        active,
        term,
        kind,
        semantic_tag(term, inside) as tag
    from bracketed
),

untagged as (
    select
        id,
        effective_time,
        concept_id,
        language,
        active,
        kind,
        tag,
        left(term, length(term) - coalesce(length(tag) + length(' ()'), 0)) as term
    from tagged
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
    u.id as description_id,
    u.effective_time,
    u.concept_id,
    u.language,
    u.active,
    u.kind,
    case when u.tag is null then u.term else trimmed(u.term) end as term,
    coalesce(u.tag, '') as tag,
    o.id is not null as outranked
from untagged as u
left join older as o on u.id = o.id;
