-- What became of concepts that were decided on.
--
-- A replacement is the active concept that an association of a retired concept points to, first one
-- of the same meaning.
--
-- reads   concept, description, association
--         decided: a row per concept that a decision was on: concept_id, and concept_name, its name
-- writes  a row for each that is unknown, retired or no longer has the name, if one is given:
--         concept_id, concept_name, change, and replacement_id, which is null if there is none

with replacement as (
    select
        a.source_id,
        arg_min(
            a.target_id,
            (coalesce(list_position(['same_as', 'replaced_by'], a.kind), 3), a.target_id)
        ) as target_id
    from association as a
    inner join concept as c on a.target_id = c.concept_id
    where
        a.active
        and c.active
    group by a.source_id
)

select
    s.concept_id,
    s.concept_name,
    case
        when c.concept_id is null then 'unknown'
        when c.active then 'renamed'
        else 'retired'
    end as change,
    if(coalesce(c.active, false), c.concept_id, r.target_id) as replacement_id
from decided as s
left join concept as c on s.concept_id = c.concept_id
left join replacement as r on s.concept_id = r.source_id
where
    not coalesce(c.active, false)
    or s.concept_name <> '' and not exists (
        select 1
        from description as d
        where
            d.concept_id = s.concept_id
            and d.active
            and lower(trim(regexp_replace(d.term, '\s+', ' ', 'g')))
            = lower(trim(regexp_replace(s.concept_name, '\s+', ' ', 'g')))
    )
order by
    s.concept_id,
    s.concept_name;
