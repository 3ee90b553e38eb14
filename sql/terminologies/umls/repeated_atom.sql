-- The smallest identifier that several atoms have.
--
-- reads   umls_atom
-- writes  one row, atom_id; null if there is none

with repeated as (
    select atom_id
    from umls_atom
    group by atom_id
    having count(*) > 1
)

select min(atom_id) as atom_id
from repeated;
