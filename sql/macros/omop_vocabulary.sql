-- The UMLS name of an OMOP vocabulary, or its own name if it has no UMLS name here.
--
-- writes  macro omop_vocabulary(vocabulary_id): such as 'SNOMEDCT_US'

create or replace macro omop_vocabulary(vocabulary_id) as
coalesce(
    map {
        'SNOMED': 'SNOMEDCT_US', 'MeSH': 'MSH', 'RxNorm': 'RXNORM', 'LOINC': 'LNC', 'CPT4': 'CPT',
        'MedDRA': 'MDR', 'ICD9Proc': 'ICD9CM', 'NCIt': 'NCI', 'OMIM': 'OMIM', 'HPO': 'HPO'
    }[vocabulary_id],
    vocabulary_id
);
