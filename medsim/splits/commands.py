"""Commands that split builds, and verify builds and splits."""

from __future__ import annotations

from medsim.core.console import MAKING_EXIT_CODES, VERIFYING_EXIT_CODES, app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_outcome, print_table, say_next, say_signs
from medsim.splits.options import AnyVerifyOptions, SplitOptions


@command(
    app, SplitOptions, then=("export", "eval", "verify", "define"), exit_codes=MAKING_EXIT_CODES
)
def split(options: SplitOptions, *, form: Format = "table") -> None:
    """Split a build so that no concept, term or pair links two splits.

    Writes the builds OUT/train, OUT/validation and OUT/test, which you can use like any build,
    with concepts.parquet, stats.parquet and manifest.json beside them. Prints the number of groups
    (linked concepts, which stay together), concepts, terms and positives in each split.

    Example: medsim split hpo -o hpo-splits --ratios 80/10/10
    """
    from medsim.splits.output import readable_sizes
    from medsim.splits.split import split as run

    print_table(call(run, options).sizes(), form, readable=readable_sizes)
    say_signs(options, form, "groups: linked concepts, kept in one split; datasets: positives")
    say_next(options, "medsim export {out} -o FOLDER --for TOOL writes files to train on")


@command(app, AnyVerifyOptions, exit_codes=VERIFYING_EXIT_CODES)
def verify(options: AnyVerifyOptions, *, form: Format = "table") -> None:
    """Check the guarantees of a build or of splits by computing its rows again.

    The nearest terms are searched again for a sample of first terms, unless --sample is all.
    Writes nothing. Exit code 3 means that a guarantee does not hold.

    Example: medsim verify hpo --sample 500
    """
    from medsim.splits.verify import verify as run

    verification = call(run, options)
    print_table(verification.findings, form)
    print_outcome(verification, options.folder, options.progress)
