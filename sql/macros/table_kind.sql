-- The kind of a name by a word of a table, such as PT or synonym; null for an unknown word.
--
-- A map is planned far sooner than a long list after `in`. The words are those of UMLS, MedDRA,
-- RF2, SKOS, Babelon and plain English.
--
-- writes  macro table_kind(value): fsn, synonym or definition

create or replace macro table_kind(value) as
map_extract_value(
    map {
        'preferred': 'fsn', 'preferredterm': 'fsn', 'preferredname': 'fsn',
        'preferredlabel': 'fsn', 'preflabel': 'fsn', 'pref': 'fsn', 'prefname': 'fsn', 'pt': 'fsn',
        'pn': 'fsn', 'p': 'fsn', 'mh': 'fsn', 'fsn': 'fsn', 'fn': 'fsn',
        'fullyspecifiedname': 'fsn', 'main': 'fsn', 'mainterm': 'fsn', 'name': 'fsn',
        'label': 'fsn', 'primary': 'fsn', 'official': 'fsn', 'title': 'fsn', '1': 'fsn',
        'true': 'fsn', 'yes': 'fsn', 'y': 'fsn', 't': 'fsn', 'rdfslabel': 'fsn',
        'skospreflabel': 'fsn', '900000000000003001': 'fsn', '': 'synonym', 'synonym': 'synonym',
        'syn': 'synonym', 'sy': 'synonym', 's': 'synonym', 'alternative': 'synonym',
        'alternate': 'synonym', 'altlabel': 'synonym', 'alt': 'synonym', 'alias': 'synonym',
        'exact': 'synonym', 'exactsynonym': 'synonym', 'hasexactsynonym': 'synonym',
        'abbreviation': 'synonym', 'abbrev': 'synonym', 'ab': 'synonym', 'acronym': 'synonym',
        'llt': 'synonym', 'et': 'synonym', 'entryterm': 'synonym', 'nonpreferred': 'synonym',
        'np': 'synonym', 'secondary': 'synonym', 'other': 'synonym', 'inclusion': 'synonym',
        'brand': 'synonym', 'brandname': 'synonym', 'tradename': 'synonym',
        'oboinowlhasexactsynonym': 'synonym', 'skosaltlabel': 'synonym', '0': 'synonym',
        'false': 'synonym', 'no': 'synonym', 'n': 'synonym', 'f': 'synonym',
        '900000000000013009': 'synonym', 'definition': 'definition',
        'textdefinition': 'definition', 'iao0000115': 'definition'
    },
    plain_word(value)
);
