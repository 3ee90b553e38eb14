"""Commands of words in context."""

from __future__ import annotations

from typing import Annotated

import typer

from medsim.core.console import VERIFYING_EXIT_CODES, command, subcommands
from medsim.core.options import call
from medsim.core.printing import Format, print_outcome, print_table, say_missing, say_next
from medsim.wic.options import (
    WicBuildOptions,
    WicEvaluateOptions,
    WicStatsOptions,
    WicVerifyOptions,
)

wic = subcommands("wic", "Words in context: do two terms have the same meaning in their sentences?")


@command(wic, WicBuildOptions, then=("wic eval", "wic verify", "wic stats", "study instances"))
def build(options: WicBuildOptions, *, form: Format = "table") -> None:
    """Build a benchmark of words in context from corpora, and print the sizes of its splits.

    Writes OUT with train.json, dev.json and test.json in the layout of BioWiC, the instances with
    their provenance as Parquet, and manifest.json. The sizes are table 3 of the BioWiC paper.

    Example: medsim wic build BC5CDR.txt NCBI.txt --terminology mesh -o wic
    """
    from medsim.wic.build import build_wic
    from medsim.wic.describe import describe_wic

    print_table(describe_wic(call(build_wic, options)), form)
    say_next(options, "to score a model, run medsim wic eval {out} -m NAME=PATH -o SCORES")


@command(wic, WicStatsOptions)
def stats(options: WicStatsOptions, *, form: Format = "table") -> None:
    """Print a table or figure of the BioWiC paper for any benchmark in its layout.

    Writes nothing. Tables are numbered as in Rouhizadeh et al. (2024). Published files do not name
    their corpora and concepts, so table 1, figures 3 and 4, and the columns on concepts of table 3
    need a folder of medsim wic build.

    Example: medsim wic stats wic --table 4 --format latex
    """
    from medsim.wic.describe import describe_wic

    print_table(call(describe_wic, options), form)


@command(wic, WicEvaluateOptions, name="eval", then=("report", "sql"))
def evaluate(options: WicEvaluateOptions, *, form: Format = "table") -> None:
    """Score models on words in context, and print accuracies overall and by group.

    Writes a folder with results, predictions and replies of language models as Parquet, and
    manifest.json. p is for the difference from the highest accuracy. The formats table, md and
    latex are for reading; json and csv have a row per model and subset. A seen instance has at
    least one target term in the training data; "both seen" has both, unseen neither.

    Example: medsim wic eval biowic -o scores -m random -m minilm=model.onnx,input=quoted
    """
    from medsim.core.shown import why_missing
    from medsim.wic.evaluate import evaluate_wic
    from medsim.wic.page import WHY_NO_VALUE, leader_sentences, readable_accuracies

    scores = call(evaluate_wic, options)
    results, people = scores.results(), scores.people
    shown = readable_accuracies(results, people)
    opening = leader_sentences(results, people)
    print_table(results, form, readable=lambda _: [shown], opening=opening)
    say_missing(options, form, why_missing(shown, WHY_NO_VALUE))
    say_next(options, "for a report, run medsim report {out} -o report.html")


@command(wic, WicVerifyOptions, exit_codes=VERIFYING_EXIT_CODES)
def verify(
    options: WicVerifyOptions,
    *,
    list_all: Annotated[
        bool,
        typer.Option(
            "--list", help="Print every violation, not only counts.", rich_help_panel="Output"
        ),
    ] = False,
    form: Format = "table",
) -> None:
    """Check a benchmark of words in context against all guarantees, and print the results.

    Writes nothing. Exit code 3 means that a guarantee does not hold.

    Example: medsim wic verify biowic --list --format csv
    """
    from medsim.wic.verify import verify_wic as run

    outcome = call(run, options)
    print_table(outcome.breaches if list_all else outcome.findings, form)
    print_outcome(outcome, options.data, options.progress)
