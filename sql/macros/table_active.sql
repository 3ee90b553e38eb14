-- Whether a value of a table means in use; null for an unknown word.
--
-- A, I and D are the letters of a status. Yes and no may be in another language. O is unknown,
-- as it may be obsolete or oui.
--
-- writes  macro table_active(value, negated): negated if yes means not in use

create or replace macro table_active(value, negated) as
case
    when
        plain_word(value) in (
            'active', 'current', 'valid', 'inuse', 'enabled', 'approved', 'a', 'aktiv', 'actif',
            'activo', 'ativo', 'attivo', 'actief'
        )
        then true
    when
        plain_word(value) in (
            'inactive', 'obsolete', 'deprecated', 'retired', 'withdrawn', 'invalid', 'disabled',
            'deleted', 'discontinued', 'i', 'd', 'inaktiv', 'inactif', 'inactivo', 'inativo',
            'inattivo', 'inactief'
        )
        then false
    when
        plain_word(value) in (
            '1', 't', 'true', 'y', 'yes', 'x', 'j', 'ja', 'oui', 'si', 'sí', 'sì', 'sim', 'tak',
            'ano', 'da', 'wahr', 'vrai', 'verdadero', 'verdadeiro', 'vero', 'waar'
        )
        then not negated
    when
        plain_word(value) in (
            '', '0', 'f', 'false', 'n', 'no', 'nein', 'nee', 'nej', 'nei', 'non', 'não', 'nao',
            'nie', 'ne', 'falsch', 'faux', 'falso', 'onwaar'
        )
        then negated
end;
