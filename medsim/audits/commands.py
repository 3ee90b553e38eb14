"""The command that audits a terminology."""

from __future__ import annotations

import typer

from medsim.audits.options import AuditCommandOptions
from medsim.core.console import EXIT_CODES, app, command
from medsim.core.errors import BrokenPromiseError, counted
from medsim.core.options import call
from medsim.core.printing import Format, print_table, say_next

_FAILED = BrokenPromiseError.exit_code


@command(
    app,
    AuditCommandOptions,
    then=("report", "sql", "build"),
    exit_codes={**EXIT_CODES, _FAILED: "there are findings of a kind in --fail-on"},
)
def audit(options: AuditCommandOptions, *, form: Format = "table") -> None:
    """Find near-duplicates, shared names and malformed names in a release of a terminology.

    Writes OUT with the findings as Parquet and CSV, mappings (SSSOM) of pairs that people decided
    to be the same or related, and manifest.json. Prints the number of findings of each kind.

    Example: medsim audit hpo -o hpo-audit
    """
    from medsim.audits.audit import audit as run

    counts = call(run, options).counts()
    print_table(counts, form)
    say_next(options, "medsim report {out} -o FILE.html makes the page to decide on findings")
    number = "findings" if options.since is None else "new"
    is_such = counts["kind"].is_in(options.fail_on) | counts["severity"].is_in(options.fail_on)
    if n_failed := int(counts.filter(is_such)[number].sum()):
        typer.echo(f"failed: {counted(n_failed, 'finding')} of the kinds in --fail-on", err=True)
        raise typer.Exit(_FAILED)
