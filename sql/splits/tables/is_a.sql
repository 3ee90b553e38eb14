-- All relationships of the terminology; they have no names, and every split needs them to find the
-- concepts below a concept.
--
-- reads   whole_is_a
-- writes  is_a: a row per relationship, key (child_id, parent_id)

create or replace table is_a as

select * -- noqa: AM04
from whole_is_a
order by
    child_id,
    parent_id;
