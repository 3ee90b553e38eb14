-- A fully specified name in two: what is before its semantic tag, and the tag.
--
-- A name ends in a tag if it ends in ")" and has a " (", of which the last one counts, unless what
-- is before that ends in " or" or "&", or what is after it begins with "&". A name without a tag
-- gives an empty one.
--
-- writes  macro tag_parts(fsn): struct(term, tag)
-- cites   Schulz and Juric 2020, section 3.1

create or replace macro tag_parts(fsn) as
case
    when not regexp_full_match(fsn, '(?s).* \(.*\)')
        then { 'term': fsn, 'tag': '' }
    when suffix(regexp_extract(fsn, '(?s)^(.*) \(.*\)$', 1), ' or')
        then { 'term': fsn, 'tag': '' }
    when suffix(regexp_extract(fsn, '(?s)^(.*) \(.*\)$', 1), '&')
        then { 'term': fsn, 'tag': '' }
    when prefix(regexp_extract(fsn, '(?s)^.* \((.*)\)$', 1), '&')
        then { 'term': fsn, 'tag': '' }
    else {
        'term': trimmed(regexp_extract(fsn, '(?s)^(.*) \(.*\)$', 1)),
        'tag': regexp_extract(fsn, '(?s)^.* \((.*)\)$', 1)
    }
end;
