-- The date of the oldest row of a description.
--
-- reads   rf2_description: full history or snapshot, key (id, effective_time)
-- writes  one row, effective_time; null without published descriptions

select nullif(min(effective_time), 'infinity') as effective_time
from rf2_description;
