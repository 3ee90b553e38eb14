-- A text without leading and trailing white space as in Python's str.strip: Unicode's white space
-- and the four separators of ASCII.
--
-- Most texts begin and end with a visible ASCII character, which is tested first. The others are
-- in UTF-8: U+0009-000D, 001C-0020, 0085, 00A0, 1680, 2000-200A, 2028, 2029, 202F, 205F and 3000.
--
-- writes  macro trimmed(text)

create or replace macro trimmed(text) as
case
    when text[1] between '!' and '~' and text[-1] between '!' and '~' then text
    else trim(
        text,
        e'\x09\x0A\x0B\x0C\x0D\x1C\x1D\x1E\x1F\x20'
        || e'\xC2\x85\xC2\xA0\xE1\x9A\x80'
        || e'\xE2\x80\x80\xE2\x80\x81\xE2\x80\x82\xE2\x80\x83\xE2\x80\x84\xE2\x80\x85'
        || e'\xE2\x80\x86\xE2\x80\x87\xE2\x80\x88\xE2\x80\x89\xE2\x80\x8A'
        || e'\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAF\xE2\x81\x9F\xE3\x80\x80'
    )
end;
