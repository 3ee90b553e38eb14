-- The place of a name of an RxNorm concept, from 0: normalized names (such as SCD and IN) come
-- first, then the name for prescriptions, synonyms, and names from other vocabularies.
--
-- writes  macro rxnorm_place(vocabulary, term_type): 0 to 3
-- cites   RxNorm Technical Documentation, appendix 5

create or replace macro rxnorm_place(vocabulary, term_type) as
case
    when vocabulary <> 'RXNORM' then 3
    when term_type in ('SY', 'TMSY', 'ET') then 2
    when term_type = 'PSN' then 1
    else 0
end::tinyint;
