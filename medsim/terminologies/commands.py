"""Commands that write RF2 releases."""

from __future__ import annotations

from medsim.core.console import app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_table, quoted, say_next
from medsim.terminologies.options import ConvertOptions, SynthOptions


@command(app, SynthOptions, then=("build", "diff"))
def synth(options: SynthOptions, *, form: Format = "table") -> None:
    """Invent an RF2 release of any size, with history and associations, and print its size.

    Writes a zip with Full and Snapshot files. It has no content of SNOMED CT. --then writes the
    next release too; the first one is the same as without it.

    Example: medsim synth -o invented.zip --concepts 10000 --seed 1
    """
    from medsim.terminologies.releases import synth as run

    print_table(call(run, options), form)
    say_next(options, "medsim build {out} -o FOLDER")
    if options.then is not None:
        then = quoted(options.then)
        say_next(options, f"medsim diff {{out}} {then} -o FOLDER compares the releases")


@command(app, ConvertOptions, then=("build",))
def convert(options: ConvertOptions, *, form: Format = "table") -> None:
    """Write any terminology as an RF2 release, and print its size.

    Writes a zip with Snapshot files. Identifiers of other terminologies are replaced by new ones,
    and the zip has a map from these to the old ones.

    Example: medsim convert hpo -o hpo-rf2.zip
    """
    from medsim.terminologies.releases import convert as run

    print_table(call(run, options), form)
    say_next(options, "medsim build {out} -o FOLDER")
