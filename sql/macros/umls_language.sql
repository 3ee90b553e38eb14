-- The ISO 639-1 code for a UMLS language code, or the UMLS code if there is none here.
--
-- writes  macro umls_language(lat): such as 'en'

create or replace macro umls_language(lat) as
coalesce(
    map {
        'ENG': 'en', 'ARA': 'ar', 'BAQ': 'eu', 'BUL': 'bg', 'CHI': 'zh', 'CZE': 'cs', 'DAN': 'da',
        'DUT': 'nl', 'EST': 'et', 'FIN': 'fi', 'FRE': 'fr', 'GER': 'de', 'GRE': 'el', 'HEB': 'he',
        'HUN': 'hu', 'ITA': 'it', 'JPN': 'ja', 'KOR': 'ko', 'LAV': 'lv', 'LIT': 'lt', 'NOR': 'no',
        'POL': 'pl', 'POR': 'pt', 'RUS': 'ru', 'SCR': 'hr', 'SLO': 'sk', 'SLV': 'sl', 'SPA': 'es',
        'SWE': 'sv', 'TUR': 'tr', 'UKR': 'uk'
    }[lat],
    lower(lat)
);
