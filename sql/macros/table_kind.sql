-- The kind of a name by a word of a table, such as PT or synonym; null for an unknown word.
--
-- The words are those of UMLS, MedDRA, RF2, SKOS, Babelon and plain English.
--
-- writes  macro table_kind(value): fsn, synonym or definition

create or replace macro table_kind(value) as
case
    when
        plain_word(value) in (
            'preferred', 'preferredterm', 'preferredname', 'preferredlabel', 'preflabel', 'pref',
            'prefname', 'pt', 'pn', 'p', 'mh', 'fsn', 'fn', 'fullyspecifiedname', 'main',
            'mainterm', 'name', 'label', 'primary', 'official', 'title', '1', 'true', 'yes', 'y',
            't', 'rdfslabel', 'skospreflabel', '900000000000003001'
        )
        then 'fsn'
    when
        plain_word(value) in (
            '', 'synonym', 'syn', 'sy', 's', 'alternative', 'alternate', 'altlabel', 'alt', 'alias',
            'exact', 'exactsynonym', 'hasexactsynonym', 'abbreviation', 'abbrev', 'ab', 'acronym',
            'llt', 'et', 'entryterm', 'nonpreferred', 'np', 'secondary', 'other', 'inclusion',
            'brand', 'brandname', 'tradename', 'oboinowlhasexactsynonym', 'skosaltlabel', '0',
            'false', 'no', 'n', 'f', '900000000000013009'
        )
        then 'synonym'
    when plain_word(value) in ('definition', 'textdefinition', 'iao0000115') then 'definition'
end;
