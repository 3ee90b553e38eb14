-- Candidate pairs from one kind of association.
--
-- reads   substitution
-- writes  macro substitutions(of_kind): a row per association

create or replace macro substitutions(of_kind) as table
    select
        term1_id,
        term2_id,
        node1_id,
        node2_id,
        concept1,
        concept2
    from substitution
    where kind = of_kind;
