-- A text of brackets without neighbouring ones that match, removed three times.
--
-- writes  macro without_pairs(brackets): such as '(' for '(()[{}]'

create or replace macro without_pairs(brackets) as
regexp_replace(
    regexp_replace(
        regexp_replace(brackets, '\(\)|\[\]|\{\}', '', 'g'),
        '\(\)|\[\]|\{\}',
        '',
        'g'
    ),
    '\(\)|\[\]|\{\}',
    '',
    'g'
);
