-- The split of each concept, which is the split of its group, decided by a rule or by a hash.
--
-- The first 8 hexadecimal digits of the MD5 of the seed, a space and the group's id are a number
-- from 0 to 4294967295; the group is in the split whose bounds contain it.
--
-- reads   concept_group: concept_id, group_id; assigned_group: group_id, split; split_bound: split,
--         low, high
-- writes  concept_split: a row per concept, key concept_id
-- params  $seed text: random seed of the hash

create or replace table concept_split as

with numbered as (
    select
        group_id,
        cast('0x' || left(md5($seed || ' ' || group_id), 8) as bigint) as number
    from concept_group
    group by group_id
),

placed as (
    select
        n.group_id,
        coalesce(r.split, b.split) as split
    from numbered as n
    inner join split_bound as b on n.number between b.low and b.high - 1
    left join assigned_group as r on n.group_id = r.group_id
)

select
    c.concept_id,
    c.group_id,
    p.split
from concept_group as c
inner join placed as p on c.group_id = p.group_id
order by c.concept_id;
