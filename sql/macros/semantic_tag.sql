-- The semantic tag of a fully specified name; null if it has none.
--
-- The last bracket is the tag, unless the text before it ends in " or" or "&", or the text inside
-- begins with "&".
--
-- writes  macro semantic_tag(fsn, inside): such as 'disorder'; inside is last_bracket(fsn)
-- cites   Schulz and Juric 2020, section 3.1

create or replace macro semantic_tag(fsn, inside) as
case
    when prefix(inside, '&') then null
    when suffix(fsn, '& (' || inside) then null
    when suffix(fsn, ' or (' || inside) then null
    else left(inside, length(inside) - 1)
end;
