-- A text less its outer white space: the characters that Unicode calls white space, and the
-- four separators of ASCII, as Python's str.strip has it.
--
-- A text between two visible characters of ASCII, as most are, is seen to have none.
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
