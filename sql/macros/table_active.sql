-- Whether a value of a table means in use; null for an unknown word.
--
-- Maps are planned far sooner than long lists after `in`. A, I and D are the letters of a status.
-- Yes and no may be in another language. O is unknown, as it may be obsolete or oui.
--
-- writes  macro table_active(value, negated): negated if yes means not in use

create or replace macro table_active(value, negated) as
coalesce(
    map {
        'active': true, 'current': true, 'valid': true, 'inuse': true, 'enabled': true,
        'approved': true, 'a': true, 'aktiv': true, 'actif': true, 'activo': true, 'ativo': true,
        'attivo': true, 'actief': true,
        'inactive': false, 'obsolete': false, 'deprecated': false, 'retired': false,
        'withdrawn': false, 'invalid': false, 'disabled': false, 'deleted': false,
        'discontinued': false, 'i': false, 'd': false, 'inaktiv': false, 'inactif': false,
        'inactivo': false, 'inativo': false, 'inattivo': false, 'inactief': false
    }[plain_word(value)],
    map {
        '1': true, 't': true, 'true': true, 'y': true, 'yes': true, 'x': true, 'j': true,
        'ja': true, 'oui': true, 'si': true, 'sí': true, 'sì': true, 'sim': true, 'tak': true,
        'ano': true, 'da': true, 'wahr': true, 'vrai': true, 'verdadero': true, 'verdadeiro': true,
        'vero': true, 'waar': true,
        '': false, '0': false, 'f': false, 'false': false, 'n': false, 'no': false, 'nein': false,
        'nee': false, 'nej': false, 'nei': false, 'non': false, 'não': false, 'nao': false,
        'nie': false, 'ne': false, 'falsch': false, 'faux': false, 'falso': false, 'onwaar': false
    }[plain_word(value)] <> negated
);
