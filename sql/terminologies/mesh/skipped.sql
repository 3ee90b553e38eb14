-- The number of tree numbers without a broader heading, because no heading has the number above.
--
-- reads   mesh_tree: number, concept_id, key (number, concept_id)
-- writes  one row, reason and n_rows

select
    'tree number is below an absent heading' as reason,
    count(*) as n_rows
from mesh_tree as c
anti join mesh_tree as p on regexp_extract(c.number, '^(.*)\.[^.]*$', 1) = p.number
where contains(c.number, '.');
