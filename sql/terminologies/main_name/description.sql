-- The names of concepts, with the main names that stand in for missing fully specified names.
--
-- A main name from another language is added as a row, whose identifier ends in "as" and the
-- language.
--
-- reads   description, main_name
-- writes  description: key description_id
-- params  $language text: the language of the main names

create or replace table description as

select
    d.* replace ( -- noqa: AM04
        if(d.language = $language and m.origin is not null, 'fsn', d.kind) as kind
    )
from description as d
left join main_name as m on d.description_id = m.description_id
union all
select
    d.* replace ( -- noqa: AM04
        d.description_id || ' as ' || $language as description_id,
        $language as language
    )
from description as d
inner join main_name as m on d.description_id = m.description_id
where d.language <> $language
order by description_id;
