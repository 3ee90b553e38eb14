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
    when suffix(fsn, ')') and contains(fsn, ' (')
        then list_transform(
            [string_split(fsn, ' (')[-1]],
            lambda inside: case
                when prefix(inside, '&')
                    then { 'term': fsn, 'tag': '' }
                when suffix(fsn, '& (' || inside)
                    then { 'term': fsn, 'tag': '' }
                when suffix(fsn, ' or (' || inside)
                    then { 'term': fsn, 'tag': '' }
                else {
                    'term': trimmed(left(fsn, length(fsn) - length(inside) - 2)),
                    'tag': left(inside, length(inside) - 1)
                }
            end
        )[1]
    else { 'term': fsn, 'tag': '' }
end;
