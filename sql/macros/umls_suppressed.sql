-- Why UMLS suppresses what a row says: N for not at all, O as obsolete, E by an editor, Y as its
-- vocabulary or its kind of name is.
--
-- writes  macro umls_suppressed(text): the text; an error where it is another

create or replace macro umls_suppressed(text) as
case
    when text in ('N', 'O', 'E', 'Y') then text
    else error('neither N, O, E nor Y')
end;
