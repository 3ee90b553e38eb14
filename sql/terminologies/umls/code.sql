-- The codes of concepts in vocabularies, except UMLS's own codes and RxNorm's identifiers in its
-- own releases.
--
-- reads   umls_atom
-- writes  code: a row per concept, vocabulary and code, key all of them

create or replace table code as

select distinct
    concept_id,
    vocabulary,
    code
from umls_atom
where
    suppressed = 'N'
    and code not in ('', 'NOCODE')
    and vocabulary not in ('MTH', 'SRC')
    and (vocabulary <> 'RXNORM' or code <> concept_id)
order by all;
