-- Pairs of a retired concept's name and the name of a concept that may be equivalent.
--
-- reads   substitutions
-- writes  possibly_equivalent_to: candidate pairs, a row per association
-- cites   Schulz and Juric 2020, section 3.2
-- order   1

create or replace table possibly_equivalent_to as

from substitutions('possibly_equivalent_to');
