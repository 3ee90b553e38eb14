-- Findings on concepts that have a category, with their severity, the main names of their concepts,
-- and an identifier.
--
-- reads   concept_category, found, kind
-- writes  a row per finding, key finding_id

select
    left(
        md5(
            concat_ws(
                chr(31),
                case when k.kind_group = 'near' then k.kind_group else f.kind end,
                f.concept1,
                coalesce(f.term1, ''),
                coalesce(f.concept2, ''),
                coalesce(f.term2, '')
            )
        ),
        16
    ) as finding_id,
    f.kind,
    k.severity,
    f.term1,
    f.term2,
    f.concept1,
    f.concept2,
    c1.main_name as main_name1,
    c2.main_name as main_name2,
    f.part1,
    f.part2,
    f.distance,
    coalesce(c1.category, c2.category) as category,
    null::boolean as new,
    f.detail,
    f.similarity,
    f.family
from found as f
inner join kind as k on f.kind = k.kind
left join concept_category as c1 on f.concept1 = c1.concept_id
left join concept_category as c2 on f.concept2 = c2.concept_id
where
    c1.category is not null
    or c2.category is not null
order by f.place;
