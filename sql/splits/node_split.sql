-- The split of every term, ignoring case.
--
-- reads   borne, member, concept_split, term
-- writes  node_split: a row per lower-cased term, key lower_term

create or replace table node_split as

select
    t.lower_term,
    min(s.split) as split
from borne as b
inner join member as m on b.member_id = m.member_id
inner join concept_split as s on m.concept_id = s.concept_id
inner join term as t on b.term_id = t.term_id
group by t.lower_term
order by t.lower_term;
