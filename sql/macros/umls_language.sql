-- The language code of ISO 639-1 for one of UMLS; a language that has none here keeps its own.
--
-- writes  macro umls_language(lat): such as 'en'

create or replace macro umls_language(lat) as
case lat
    when 'ENG' then 'en'
    when 'ARA' then 'ar'
    when 'BAQ' then 'eu'
    when 'BUL' then 'bg'
    when 'CHI' then 'zh'
    when 'CZE' then 'cs'
    when 'DAN' then 'da'
    when 'DUT' then 'nl'
    when 'EST' then 'et'
    when 'FIN' then 'fi'
    when 'FRE' then 'fr'
    when 'GER' then 'de'
    when 'GRE' then 'el'
    when 'HEB' then 'he'
    when 'HUN' then 'hu'
    when 'ITA' then 'it'
    when 'JPN' then 'ja'
    when 'KOR' then 'ko'
    when 'LAV' then 'lv'
    when 'LIT' then 'lt'
    when 'NOR' then 'no'
    when 'POL' then 'pl'
    when 'POR' then 'pt'
    when 'RUS' then 'ru'
    when 'SCR' then 'hr'
    when 'SLO' then 'sk'
    when 'SLV' then 'sl'
    when 'SPA' then 'es'
    when 'SWE' then 'sv'
    when 'TUR' then 'tr'
    when 'UKR' then 'uk'
    else lower(lat)
end;
