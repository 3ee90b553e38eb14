-- Descriptions of a language as RF2 rows; a fully specified name without a semantic tag gets the
-- default tag.
--
-- reads   concept, description, concept_sctid, description_sctid: description_id, sctid
-- writes  a row per description of the language, key id
-- params  $effective_time text: effective time of all rows, as YYYYMMDD
--         $tag text: default tag
--         $language text: code of the language

select
    di.sctid as id,
    $effective_time as "effectiveTime",
    d.active,
    coalesce(nullif(c.module_id, ''), sctid('core_module')) as "moduleId",
    ci.sctid as "conceptId",
    d.language as "languageCode",
    case d.kind
        when 'fsn' then sctid('fully_specified_name')
        else sctid('synonym')
    end as "typeId",
    regexp_replace(
        case d.kind
            when 'fsn' then d.term || ' (' || coalesce(nullif(c.semantic_tag, ''), $tag) || ')'
            else d.term
        end,
        '[\t\r\n]+',
        ' ',
        'g'
    ) as term,
    sctid('case_insensitive') as "caseSignificanceId"
from description as d
inner join concept as c on d.concept_id = c.concept_id
inner join concept_sctid as ci on d.concept_id = ci.concept_id
inner join description_sctid as di on d.description_id = di.description_id
where d.language = $language
order by id;
