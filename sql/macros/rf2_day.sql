-- A date that RF2 writes as eight digits.
--
-- writes  macro rf2_day(text): date; an error if the text is not such a date

create or replace macro rf2_day(text) as
case
    when strlen(text) = 8 and text < ':' then strptime(text, '%Y%m%d')::date
    else error('the effectiveTime ''' || text || ''', not a date such as 20260131')::date
end;
