-- Pairs of a retired concept's name and the name of the concept that replaces it.
--
-- reads   substitutions
-- writes  replaced_by: candidate pairs, a row per association
-- cites   Schulz and Juric 2020, section 3.2
-- order   2

create or replace table replaced_by as

from substitutions('replaced_by');
