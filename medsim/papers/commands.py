"""The command that reproduces the tables of a paper."""

from __future__ import annotations

from medsim.core.console import MAKING_EXIT_CODES, app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_table, say_next
from medsim.papers.options import ReproduceOptions


@command(
    app, ReproduceOptions, then=("sql", "compare", "study score"), exit_codes=MAKING_EXIT_CODES
)
def reproduce(options: ReproduceOptions, *, form: Format = "table") -> None:
    """Compute the tables of a published paper, each cell beside the printed number.

    Writes to OUT the build, study and evaluation behind the tables, and OUT/tables with all cells
    as Parquet, CSV and LaTeX, and the page OUT/tables.html. Run the same command to continue an
    interrupted run. Prints how many cells of each table were computed.

    Example: medsim reproduce schulz-2020 snomed.zip MayoSRS.csv -e "GloVe=glove.txt" -o paper
    """
    from medsim.papers.reproduce import reproduce as run

    print_table(call(run, options).counts(), form)
    say_next(options, "open {out}/tables.html in a browser; it works offline")
