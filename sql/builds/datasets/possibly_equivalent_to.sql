-- Pairs of a retired concept's name and the name of a concept that it is possibly equivalent to.
--
-- reads   substitution
-- writes  possibly_equivalent_to: candidate pairs, a row per association
-- cites   Schulz and Juric 2020, section 3.2
-- order   1

create or replace table possibly_equivalent_to as

select
    term1_id,
    term2_id,
    node1_id,
    node2_id,
    concept1,
    concept2
from substitution
where kind = 'possibly_equivalent_to'
order by
    concept1,
    concept2;
