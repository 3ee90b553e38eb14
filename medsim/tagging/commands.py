"""The command that scores embeddings by taggers."""

from __future__ import annotations

from medsim.core.console import app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_table, say_missing, say_next, say_signs
from medsim.tagging.options import TagOptions


@command(app, TagOptions, then=("correlate", "report", "sql"))
def tag(options: TagOptions, *, form: Format = "table") -> None:
    """Score embeddings by training small taggers of named entities on them.

    Writes OUT with results, trials, predictions and tasks as Parquet, and manifest.json;
    OUT/tasks.parquet is the EXTRINSIC table of medsim correlate. The formats table, md and latex
    have F1 in percent, mean ± standard deviation of the trials with the 95% confidence interval of
    the mean; json and csv have a row per value. An interrupted run does not change OUT; run the
    same command to continue.

    Example: medsim tag BC5CDR.txt -e glove=glove.6B.300d.txt -o tags
    """
    from medsim.tagging.tag import readable_f1
    from medsim.tagging.tag import tag as run

    tagging = call(run, options)
    print_table(tagging.results(), form, readable=lambda frame: [readable_f1(frame)])
    say_signs(
        options,
        form,
        "F1 in percent: mean ± standard deviation of trials [95% confidence interval of the mean]",
    )
    if tagging.results().filter(statistic="f1")["value"].null_count():
        why = "the test split has no entity of the type, and none was found"
        say_missing(options, form, why)
    say_next(
        options,
        "for a report, run medsim report {out} -o report.html",
        "to compare, run medsim correlate RESULTS {out}/tasks.parquet",
    )
