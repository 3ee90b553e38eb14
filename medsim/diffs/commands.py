"""The command that compares two releases."""

from __future__ import annotations

from medsim.core.console import app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_table, say_next, say_signs
from medsim.diffs.options import DiffOptions


@command(app, DiffOptions, then=("sql", "report"))
def diff(options: DiffOptions, *, form: Format = "table") -> None:
    """Compare two releases of a terminology and their datasets, and print the number of changes.

    Writes OUT with a table of each kind of change as Parquet, CHANGES.md for a changelog, and
    manifest.json. Each release is the folder of a build, or a source, which is built into a
    temporary folder first. Unchanged concepts, names and pairs are not listed.

    Example: medsim diff hpo-2024 hpo-2026 -o changes
    """
    from medsim.diffs.diff import diff as run
    from medsim.diffs.output import readable_changes

    print_table(call(run, options).summary(), form, readable=readable_changes)
    say_signs(options, form, "of kept concepts: of concepts that are active in both releases")
    say_next(
        options,
        'for the rows of a table, run medsim sql {out} "from name"',
        "for a page, run medsim report {out} -o changes.html",
    )
