-- The place of a name among those of its concept in RxNorm: 0 for the name that RxNorm makes, such
-- as SCD or IN, then the one for prescriptions, its synonyms, and names of other vocabularies.
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
