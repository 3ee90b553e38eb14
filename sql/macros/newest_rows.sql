-- Components as they stood on one day: the newest row of each that is not after it, with the
-- columns of its table.
--
-- Most components have one row, so that few are compared.
--
-- writes  macro newest_rows(history, as_of): a row per component, key id, of the table that history
--         names, full history or snapshot with the key (id, effective_time); as_of is the day, and
--         null takes the newest rows

create or replace macro newest_rows(history, as_of) as table
    with known as (
        select * -- noqa: AM04
        from query_table(history)
        where effective_time <= coalesce(as_of::date, 'infinity'::date)
    ),

    changed as (
        select
            id,
            max(effective_time) as newest_time
        from known
        group by id
        having count(*) > 1
    )

    select k.* -- noqa: AM04
    from known as k
    left join changed as c on k.id = c.id
    where
        c.id is null
        or k.effective_time = c.newest_time;
