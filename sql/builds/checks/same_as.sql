-- A positive of same_as is an active association of that kind, and no pair of syn_syn.
--
-- reads   unfounded_substitution
-- writes  the rows that violate this

select * -- noqa: AM04
from unfounded_substitution('same_as')
order by
    set_id,
    row;
