-- A positive of same_as is an active association of that kind and is not in syn_syn.
--
-- reads   unfounded_substitution
-- writes  the rows that violate this

select * -- noqa: AM04
from unfounded_substitution('same_as')
order by
    set_id,
    row;
