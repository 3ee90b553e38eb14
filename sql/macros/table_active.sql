-- Whether a value of a table means in use; null for an unknown word.
--
-- writes  macro table_active(value, negated): negated if yes means not in use

create or replace macro table_active(value, negated) as
case
    when plain_word(value) in ('active', 'current', 'valid', 'inuse', 'enabled', 'approved')
        then true
    when
        plain_word(value) in (
            'inactive', 'obsolete', 'deprecated', 'retired', 'withdrawn', 'invalid', 'disabled',
            'deleted', 'discontinued'
        )
        then false
    when plain_word(value) in ('1', 't', 'true', 'y', 'yes', 'x') then not negated
    when plain_word(value) in ('', '0', 'f', 'false', 'n', 'no') then negated
end;
