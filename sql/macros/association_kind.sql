-- The name of an association's kind, or the identifier of the reference set if it has no name here.
--
-- writes  macro association_kind(refset_id): such as 'same_as'

create or replace macro association_kind(refset_id) as
case refset_id
    when sctid('possibly_equivalent_to') then 'possibly_equivalent_to'
    when sctid('moved_to') then 'moved_to'
    when sctid('moved_from') then 'moved_from'
    when sctid('replaced_by') then 'replaced_by'
    when sctid('same_as') then 'same_as'
    when sctid('was_a') then 'was_a'
    when sctid('similar_to') then 'similar_to'
    when sctid('alternative') then 'alternative'
    when sctid('refers_to') then 'refers_to'
    when sctid('possibly_replaced_by') then 'possibly_replaced_by'
    when sctid('partially_equivalent_to') then 'partially_equivalent_to'
    else refset_id
end;
