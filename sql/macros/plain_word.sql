-- A text in lower case with only its letters and digits, so that different spellings are the same.
--
-- writes  macro plain_word(value)

create or replace macro plain_word(value) as
regexp_replace(lower(value), '[^\p{L}\p{N}]', '', 'g');
