-- Pairs of a retired concept's name and the name of a concept that it is the same as.
--
-- reads   substitution
-- writes  same_as: candidate pairs, a row per association
-- cites   Schulz and Juric 2020, section 3.2
-- order   3

create or replace table same_as as

select
    term1_id,
    term2_id,
    node1_id,
    node2_id,
    concept1,
    concept2
from substitution
where kind = 'same_as'
order by
    concept1,
    concept2;
