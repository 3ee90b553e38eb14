-- The ISO 639-1 code of a language concept, from its name or else its identifier; languages without
-- a code here keep their identifier.
--
-- writes  macro omop_language(concept_id, concept_name): such as 'en'; the name may be null

create or replace macro omop_language(concept_id, concept_name) as
coalesce(
    map {
        'arabic': 'ar', 'basque': 'eu', 'bulgarian': 'bg', 'catalan': 'ca', 'chinese': 'zh',
        'croatian': 'hr', 'czech': 'cs', 'danish': 'da', 'dutch': 'nl', 'english': 'en',
        'estonian': 'et', 'finnish': 'fi', 'french': 'fr', 'german': 'de', 'greek': 'el',
        'hebrew': 'he', 'hindi': 'hi', 'hungarian': 'hu', 'italian': 'it', 'japanese': 'ja',
        'korean': 'ko', 'latvian': 'lv', 'lithuanian': 'lt', 'norwegian': 'no', 'persian': 'fa',
        'polish': 'pl', 'portuguese': 'pt', 'romanian': 'ro', 'russian': 'ru', 'slovak': 'sk',
        'slovenian': 'sl', 'spanish': 'es', 'swedish': 'sv', 'thai': 'th', 'turkish': 'tr',
        'ukrainian': 'uk', 'vietnamese': 'vi'
    }[regexp_replace(lower(concept_name), ' language$', '')],
    map {
        '4180186': 'en', '4182511': 'es', '4180190': 'fr', '4182507': 'it', '4182503': 'nl',
        '4181536': 'pt'
    }[concept_id::varchar],
    concept_id::varchar
);
