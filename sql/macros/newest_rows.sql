-- Components as they stood on one day: the newest row of each that is not after it, with the
-- columns of its table.
--
-- Most components have one row, so that few are compared. One that several files have counts once.
--
-- writes  macro newest_rows(history, as_of): a row per component, key id, of the table that history
--         names, full history or snapshot; as_of is the day, and null takes the newest rows

create or replace macro newest_rows(history, as_of) as table
    with several as (
        select id
        from query_table(history)
        group by id
        having count(*) > 1
    )

    select * -- noqa: AM04
    from query_table(history)
    where
        effective_time <= coalesce(as_of::date, 'infinity'::date)
        and id not in (from several)
    union all
    select * -- noqa: AM04
    from query_table(history)
    where
        effective_time <= coalesce(as_of::date, 'infinity'::date)
        and id in (from several)
    qualify row_number() over (partition by id order by effective_time desc) = 1;
