-- Why UMLS suppresses what a row says: N for not at all, O as obsolete, E by an editor, Y as its
-- vocabulary or its kind of name is.
--
-- RxNorm also leaves it empty where nothing is suppressed, as in RXNREL.RRF.
--
-- writes  macro umls_suppressed(text, rxnorm): the text, N for an empty one of RxNorm; an error
--         where it is another
-- cites   RxNorm Technical Documentation, section 12.7

create or replace macro umls_suppressed(text, rxnorm) as
case
    when rxnorm and text = '' then 'N'
    when text in ('N', 'O', 'E', 'Y') then text
    else error('neither N, O, E nor Y')
end;
