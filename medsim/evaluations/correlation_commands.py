"""The command that correlates intrinsic with extrinsic scores."""

from __future__ import annotations

from medsim.core.console import Format, app, command, print_table
from medsim.evaluations.correlate_options import CorrelateOptions


@command(app, CorrelateOptions)
def correlate(options: CorrelateOptions, *, form: Format = "table") -> None:
    """Correlate models' intrinsic scores with their scores on other tasks.

    Writes nothing. As table, md and latex it has a row per set and a column per task: Pearson's r
    with * for p below 0.05, ** below 0.01 and *** below 0.001, after Holm's correction for all
    tests; json and csv have a row per correlation, with interval, t-test and what it shows.

    Example: medsim correlate results tasks.csv --format latex
    """
    from medsim.evaluations.correlate import correlate as run
    from medsim.evaluations.tables.readable import readable_correlations

    found = run(**options.given())
    print_table(found, form, readable=lambda frame: [readable_correlations(frame)])
