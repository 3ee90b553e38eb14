-- The id of a pair of texts: half the MD5 of the length of the first term, a colon and both terms.
--
-- It depends only on the two texts.
--
-- writes  macro id_of_pair(term1, term2): 16 hexadecimal digits

create or replace macro id_of_pair(term1, term2) as
left(md5(length(term1) || ':' || term1 || term2), 16);
