-- A positive of possibly_equivalent_to is an active association of that kind and is not in
-- syn_syn.
--
-- reads   unfounded_substitution
-- writes  the rows that violate this

select * -- noqa: AM04
from unfounded_substitution('possibly_equivalent_to')
order by
    set_id,
    row;
