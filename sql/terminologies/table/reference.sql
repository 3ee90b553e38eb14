-- The concepts that a table's columns of parents and replacements mean: by identifier, also as a
-- number with .0, in another case or as an IRI, or by name.
--
-- reads   given, separator
-- writes  reference: a row per column, concept and target, key (role, source_id, target_id);
--         is_known is whether the target is in the table; without the root of OWL

create or replace table reference as

with cell as (
    unpivot (
        select
            concept,
            parent,
            replaced_by
        from given
        where concept <> ''
    )
    on parent, replaced_by
    into name role value value
),

stated as (
    select
        c.role,
        c.concept as source_id,
        trimmed(unnest(cell_values(c.value, s.sign))) as value
    from cell as c
    inner join separator as s on c.role = s.role
),

used as (
    select distinct
        role,
        source_id,
        value
    from stated
    where
        value <> ''
        and not regexp_matches(value, '^(owl:|https?://www\.w3\.org/2002/07/owl#)Thing$')
),

own as (
    select distinct concept
    from given
    where concept <> ''
),

odd_value as (
    select distinct
        u.value,
        regexp_replace(u.value, '^''(.*)''$', '\1') as unquoted
    from used as u
    anti join own as o on u.value = o.concept
),

tried as (
    select
        value,
        unnest([1, 2, 3]) as turn,
        unnest([concept_spelling(value), unquoted, lower(unquoted)]) as spelling
    from odd_value
),

spelling as (
    select
        concept as target_id,
        unnest([1, 2, 3]) as turn,
        unnest([concept_spelling(concept), trimmed(term), lower(trimmed(term))]) as spelling
    from given
    where concept <> ''
),

known as (
    select
        s.turn,
        s.spelling,
        min(s.target_id) as target_id
    from spelling as s
    semi join tried as t on s.turn = t.turn and s.spelling = t.spelling
    where s.spelling <> ''
    group by
        s.turn,
        s.spelling
    having count(distinct s.target_id) = 1
),

found as (
    select
        t.value,
        arg_min(k.target_id, k.turn) as target_id
    from tried as t
    inner join known as k on t.turn = k.turn and t.spelling = k.spelling
    group by t.value
)

select distinct
    u.role,
    u.source_id,
    coalesce(f.target_id, u.value) as target_id,
    coalesce(f.target_id, o.concept) is not null as is_known
from used as u
left join own as o on u.value = o.concept
left join found as f on u.value = f.value
where coalesce(f.target_id, u.value) <> u.source_id
order by all;
