-- The main names of concepts without a fully specified name in one language: the preferred name in
-- that language, or else the fully specified name in another one, English first.
--
-- If the release does not say which names of the language are preferred, every synonym counts as
-- preferred. Of several names, the one with the smallest identifier is taken.
--
-- reads   description, dialect_name
-- writes  main_name: a row per concept, key description_id; origin says what these names are
-- params  $language text: the language

create or replace table main_name as

with described as (
    select distinct concept_id
    from description
    where
        active
        and kind = 'fsn'
        and language = $language
),

preferred as (
    select d.description_id
    from description as d
    inner join dialect_name as n on d.description_id = n.description_id
    where
        n.preferred
        and d.active
        and d.language = $language
)

select
    d.description_id,
    case
        when d.language <> $language then 'fully specified names in another language'
        when p.description_id is not null then 'preferred synonyms'
        else 'first synonyms'
    end as origin
from description as d
anti join described as f on d.concept_id = f.concept_id
left join preferred as p on d.description_id = p.description_id
where
    d.active
    and case
        when d.language <> $language then d.kind = 'fsn'
        else p.description_id is not null or (select count(*) from preferred) = 0
    end
qualify row_number() over (
    partition by d.concept_id
    order by
        d.language <> $language,
        d.language <> 'en',
        d.language,
        length(d.description_id),
        d.description_id
) = 1;
