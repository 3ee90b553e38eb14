-- A positive of syn_syn is two names of one active concept.
--
-- reads   unfounded_name_pair
-- writes  the rows that violate this

select * -- noqa: AM04
from unfounded_name_pair('syn_syn', ['fsn', 'synonym'], ['fsn', 'synonym'])
order by
    set_id,
    row;
