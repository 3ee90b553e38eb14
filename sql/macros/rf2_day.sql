-- The day that RF2 writes as eight digits.
--
-- writes  macro rf2_day(text): date; an error where the text is no such day

create or replace macro rf2_day(text) as
case
    when strlen(text) = 8 and text < ':' then strptime(text, '%Y%m%d')::date
    else error('no day')::date
end;
