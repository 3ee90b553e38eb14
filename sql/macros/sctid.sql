-- The SNOMED CT identifiers that medsim uses, by name.
--
-- writes  macro sctid(name): the identifier as text, null for an unknown name
-- cites   SNOMED CT Release File Specifications; SNOMED International

create or replace macro sctid(name) as
case name
    when 'model_component_module' then '900000000000012004'
    when 'fully_specified_name' then '900000000000003001'
    when 'synonym' then '900000000000013009'
    when 'text_definition' then '900000000000550004'
    when 'possibly_equivalent_to' then '900000000000523009'
    when 'moved_to' then '900000000000524003'
    when 'moved_from' then '900000000000525002'
    when 'replaced_by' then '900000000000526001'
    when 'same_as' then '900000000000527005'
    when 'was_a' then '900000000000528000'
    when 'similar_to' then '900000000000529008'
    when 'alternative' then '900000000000530003'
    when 'refers_to' then '900000000000531004'
    when 'possibly_replaced_by' then '1186921001'
    when 'partially_equivalent_to' then '1186924009'
    when 'is_a' then '116680003'
    when 'core_module' then '900000000000207008'
    when 'primitive' then '900000000000074008'
    when 'defined' then '900000000000073002'
    when 'case_insensitive' then '900000000000448009'
    when 'case_sensitive' then '900000000000017005'
    when 'initial_case_insensitive' then '900000000000020002'
    when 'inferred' then '900000000000011006'
    when 'stated' then '900000000000010007'
    when 'existential' then '900000000000451002'
    when 'preferred' then '900000000000548007'
    when 'acceptable' then '900000000000549004'
    when 'simple_map' then '900000000000496009'
end;
