-- A date that RF2 writes as eight digits, or as an empty text before it is published.
--
-- writes  macro rf2_day(text): date, infinity for an empty text; an error if it is not such a date

create or replace macro rf2_day(text) as
case
    when text = '' then 'infinity'::date
    else coalesce(
        case when strlen(text) = 8 and text < ':' then try_strptime(text, '%Y%m%d')::date end,
        error('the effectiveTime ''' || text || ''', not a date such as 20260131')::date
    )
end;
