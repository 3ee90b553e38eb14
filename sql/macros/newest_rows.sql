-- Components as they stood on one day: the newest row of each that is not after it, with the
-- columns of its table.
--
-- Most components have one row, so that few are compared.
--
-- writes  macro newest_rows(history, as_of): a row per component, key id, of the table that history
--         names, full history or snapshot with the key (id, effective_time); as_of is the day, and
--         null takes the newest rows

create or replace macro newest_rows(history, as_of) as table
    with changed as (
        select
            id,
            max(effective_time) as newest_time
        from query_table(history)
        where effective_time <= coalesce(as_of::date, 'infinity'::date)
        group by id
        having count(*) > 1
    )

    select r.* -- noqa: AM04
    from query_table(history) as r -- noqa: RF02
    left join changed as c on r.id = c.id
    where
        r.effective_time <= coalesce(as_of::date, 'infinity'::date) -- noqa: RF02
        and (c.id is null or r.effective_time = c.newest_time);
