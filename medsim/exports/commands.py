"""The command that exports builds and splits."""

from __future__ import annotations

from pathlib import Path

from medsim.core.console import app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_table, quoted, say_next
from medsim.exports.options import ExportOptions


@command(app, ExportOptions)
def export(options: ExportOptions, *, form: Format = "table") -> None:
    """Export a build or splits to the files that another tool reads.

    Writes OUT with those files and manifest.json, and prints the rows of each file. Negatives are
    levenshtein by default. --choices writes multiple-choice questions for language models, whose
    wrong names are balanced by default: no rule of spelling finds the right name. --private also
    exports content whose licence forbids sharing it or is unknown; the first lines of the card say
    so. For a --rated file in an unknown layout, give the names of its columns:
    rated.csv,term1=A,term2=B,rating=score.

    Example: medsim export hpo-splits -o hpo-lines --for jsonl
    """
    from medsim.exports.export import export as run
    from medsim.exports.formats import format_of

    files = call(run, options).files()
    print_table(files, form)
    out = str(options.out)
    names = files["file"].to_list()
    chosen = [name for name in names if name.startswith("train")] or names
    file = quoted(Path(out, *chosen[:1]))
    say_next(options, format_of(options).next.format(out=out, file=file))
