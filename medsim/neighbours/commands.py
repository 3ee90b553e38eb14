"""The command that finds nearest names."""

from __future__ import annotations

from contextlib import closing

from medsim.core.console import app, command
from medsim.core.printing import Format, print_frames, say_next
from medsim.neighbours.options import NearestCommandOptions


@command(app, NearestCommandOptions)
def nearest(options: NearestCommandOptions, *, form: Format = "table") -> None:
    """Find the nearest names of each query by Levenshtein distance, exactly.

    Writes rows to OUT, or prints them: the query, the rank of the match from 1, the match, and
    their distance. Without POOL, QUERIES is compared with itself, and equal names count once
    unless --keep is given. Case is ignored. Without --k, --max-distance finds all pairs within the
    distance.

    Example: medsim nearest queries.txt hpo -k 3 -o nearest.parquet
    """
    from medsim.core.output import check_not_input
    from medsim.neighbours.pool import batches_of, write_rows

    with closing(batches_of(options)) as batches:  # so that its stages end
        if options.out is None:
            print_frames(batches, form)
            return
        check_not_input(options.out, options.paths_read())
        write_rows(options.out, batches, overwrite=options.overwrite)
    say_next(options, "read {out} with medsim sql or any tool for tables")
