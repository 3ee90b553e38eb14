-- The pairs of all sets, their terms, concepts and sets as numbers, so that rules are checked
-- without texts. What the terminology does not have is null.
--
-- writes  numbered_pair: no rows yet; one per pair of each set, key (set_id, row)

create or replace table numbered_pair (
    set_id usmallint,
    row int,
    term1_id int,
    term2_id int,
    label tinyint,
    distance int,
    concept1 int,
    concept2 int,
    has_equal_terms boolean,
    is_linked boolean
);
