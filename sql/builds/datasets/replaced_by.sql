-- Pairs of a retired concept's name and the name of a concept that it is replaced by.
--
-- reads   substitution
-- writes  replaced_by: candidate pairs, a row per association
-- cites   Schulz and Juric 2020, section 3.2
-- order   2

create or replace table replaced_by as

select
    term1_id,
    term2_id,
    node1_id,
    node2_id,
    concept1,
    concept2
from substitution
where kind = 'replaced_by'
order by
    concept1,
    concept2;
