-- A positive of replaced_by is an active association of that kind and is not in syn_syn.
--
-- reads   unfounded_substitution
-- writes  the rows that violate this

select * -- noqa: AM04
from unfounded_substitution('replaced_by')
order by
    set_id,
    row;
