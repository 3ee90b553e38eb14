-- A text without leading and trailing white space as in Python's str.strip: Unicode's white space
-- and the four separators of ASCII.
--
-- Most texts begin and end with a visible ASCII character, which is tested first.
--
-- writes  macro trimmed(text)

create or replace macro trimmed(text) as
case
    when text[1] between '!' and '~' and text[-1] between '!' and '~' then text
    else trim(
        text,
        chr(9) || chr(10) || chr(11) || chr(12) || chr(13)
        || chr(28) || chr(29) || chr(30) || chr(31) || chr(32)
        || chr(133) || chr(160) || chr(5760)
        || chr(8192) || chr(8193) || chr(8194) || chr(8195) || chr(8196) || chr(8197)
        || chr(8198) || chr(8199) || chr(8200) || chr(8201) || chr(8202)
        || chr(8232) || chr(8233) || chr(8239) || chr(8287) || chr(12288)
    )
end;
