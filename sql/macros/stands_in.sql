-- Whether a row of description is a copy of a main name from another language; its identifier says
-- so, see terminologies/main_name/description.
--
-- writes  macro stands_in(description_id)

create or replace macro stands_in(description_id) as
regexp_matches(description_id, ' as [^ /]+$');
