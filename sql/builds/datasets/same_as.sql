-- Pairs of a retired concept's name and the name of a concept with the same meaning.
--
-- reads   substitutions
-- writes  same_as: candidate pairs, a row per association
-- cites   Schulz and Juric 2020, section 3.2
-- order   3

create or replace table same_as as

from substitutions('same_as');
