-- The id of each pair of texts, and its place in an order drawn from a seed.
--
-- The place is the MD5 of the seed, a space and the id, as two numbers in little-endian byte order.
--
-- reads   pair_text: row, term1, term2
-- writes  a row per pair, in the order of pair_text
-- params  $seed text: random seed of the order

with identified as (
    select
        row,
        id_of_pair(term1, term2) as pair_id
    from pair_text
),

placed as (
    select
        row,
        pair_id,
        md5_number($seed || ' ' || pair_id) as place
    from identified
)

select
    pair_id,
    (place & 18446744073709551615::uhugeint)::ubigint as place,
    (place >> 64)::ubigint as second_place
from placed
order by row;
