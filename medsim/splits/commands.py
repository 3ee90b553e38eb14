"""The command that splits builds."""

from __future__ import annotations

from medsim.core.console import Format, app, command, print_table
from medsim.splits.options import SplitOptions


@command(app, SplitOptions)
def split(options: SplitOptions, *, form: Format = "table") -> None:
    """Split a build so that no concept, term or pair of one split is linked to another.

    Writes OUT with a build each in train/, validation/ and test/, which every command that reads
    a build takes, concepts.parquet, stats.parquet and manifest.json, and prints the sizes: groups
    and concepts, then the positives of each dataset, and their shares.

    Example: medsim split hpo -o hpo-splits --ratios 80/10/10
    """
    from medsim.splits.output import readable_sizes
    from medsim.splits.split import split as run

    print_table(run(**options.given()).sizes(), form, readable=readable_sizes)
