-- A positive of fsn_syn is the fully specified name of an active concept and one of its synonyms.
--
-- reads   unfounded_name_pair
-- writes  the rows that violate this

select * -- noqa: AM04
from unfounded_name_pair('fsn_syn', ['fsn'], ['synonym'])
order by
    set_id,
    row;
