-- Components as of one date: the newest row of each that is not later, with the columns of its
-- table.
--
-- Most components have one row, so few rows are compared. A row in several files counts once.
--
-- writes  macro newest_rows(history, as_of): a row per component, key id, of the table named by
--         history, full history or snapshot; as_of is the date, and null takes the newest rows

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
