-- Whether a row is active, which RF2 writes as 1 or 0.
--
-- writes  macro rf2_flag(text): boolean; an error if the text is neither

create or replace macro rf2_flag(text) as
case text
    when '1' then true
    when '0' then false
    else error('the active ''' || text || ''', neither 0 nor 1')::boolean
end;
