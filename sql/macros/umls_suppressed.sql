-- The reason why UMLS suppresses a row: N (not suppressed), O (obsolete), E (by an editor) or Y
-- (because of its vocabulary or kind of name).
--
-- RxNorm also leaves it empty if the row is not suppressed, as in RXNREL.RRF.
--
-- writes  macro umls_suppressed(text, rxnorm): the text, or N if it is empty in RxNorm; an error
--         for any other text
-- cites   RxNorm Technical Documentation, section 12.7

create or replace macro umls_suppressed(text, rxnorm) as
case
    when rxnorm and text = '' then 'N'
    when text in ('N', 'O', 'E', 'Y') then text
    else error('the SUPPRESS ''' || text || ''', other than N, O, E and Y')
end;
