-- The number that identifies a concept in OMOP.
--
-- writes  macro omop_id(text): bigint; an error if the text is not such a number

create or replace macro omop_id(text) as
case
    when regexp_full_match(text, '[0-9]{1,18}') then text::bigint
    else error('''' || text || ''' where a number identifies a concept')::bigint
end;
