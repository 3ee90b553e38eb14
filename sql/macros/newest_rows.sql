-- Components as they stood on one day: the newest row of each that is not after it, with the
-- columns of its table.
--
-- writes  macro newest_rows(history, as_of): a row per component, key id, of the table that history
--         names, full history or snapshot with the key (id, effective_time); as_of is the day, and
--         null takes the newest rows

create or replace macro newest_rows(history, as_of) as table
    select * -- noqa: AM04
    from query_table(history)
    where effective_time <= coalesce(as_of::date, 'infinity'::date)
    qualify row_number() over (partition by id order by effective_time desc) = 1;
