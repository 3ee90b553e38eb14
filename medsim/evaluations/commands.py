"""Commands that score embeddings, compare them, and correlate their scores with others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from medsim.core.console import app, command
from medsim.core.options import call, folder_of
from medsim.core.printing import Format, print_table, say_missing, say_next, say_signs
from medsim.evaluations.options import CompareOptions, CorrelateOptions, EvaluateOptions

if TYPE_CHECKING:
    import polars as pl

_ListTerms = Annotated[
    Path | None,
    typer.Option(
        "--list-terms",
        metavar="FILE",
        help="Only write the terms to embed to FILE, one per line.",
        rich_help_panel="Output",
    ),
]


@command(app, EvaluateOptions, name="eval", then=("compare", "report", "correlate", "sql"))
def evaluate(
    options: EvaluateOptions, *, list_terms: _ListTerms = None, form: Format = "table"
) -> None:
    """Evaluate embeddings on builds and on files of rated pairs, and print their scores.

    The first score is the headline score, the AUC beyond spelling. Writes to OUT the scores,
    comparisons and coverage as Parquet, the similarity of every pair, and manifest.json; with
    --retrieval and --separation, their tables too. If OUT exists, only new results are computed. An
    interrupted run does not change OUT; run the same command to continue. With --list-terms nothing
    is evaluated, and the embeddings need not exist.

    A table of --predictions has the columns term1, term2 and similarity. Predicted pairs that
    no input has are an error, except with --sample or a choice of sets.

    A folder of questions, from medsim export --choices, is answered by language models (--llm),
    embeddings and systems. A table of --predictions then has the columns id and answer, or term1,
    term2 and similarity.

    Example: medsim eval hpo -e glove=glove.6B.300d.txt -o results
    """
    from medsim.evaluations.compare import compared
    from medsim.evaluations.evaluate import evaluate as run
    from medsim.evaluations.evaluate import write_terms
    from medsim.questions.output import Answers
    from medsim.questions.scores import print_answers

    if list_terms is not None:
        write_terms(options, list_terms)
        return
    evaluated = call(run, options)
    if isinstance(evaluated, Answers):
        print_answers(evaluated, form, options)
        return
    compare_options = CompareOptions(evaluation=evaluated)
    _print_comparison(*compared(compare_options), form, options)
    optional = (
        (options.retrieval and options.embeddings, "retrieval"),
        (options.noise and options.embeddings, "robustness"),
        (options.separates and options.embeddings, "separation"),
        (options.words, "parts"),
    )
    tables = [("a summary", "standings"), *((name, name) for chosen, name in optional if chosen)]
    say_next(
        options,
        *(f"for {what}, run medsim compare {{out}} --table {table}" for what, table in tables),
        "for a report, run medsim report {out} -o report.html",
    )


@command(app, CompareOptions, then=("report", "correlate"))
def compare(options: CompareOptions, *, form: Format = "table") -> None:
    """Compare embeddings: scores, metrics and significance.

    Writes nothing. The table "best" has the headline score, the AUC beyond spelling, and the score
    of each embedding on each set, with the metric that is best there. "standings" sums these up
    over all sets, "all-auc" has every metric, and "article" is made for a publication. The page
    Evaluations of the documentation describes all tables. If RESULTS has answers to questions, the
    scores of all models are printed.

    In most tables each score has its metric, and how many other embeddings are significantly worse
    (+) or better (\u2212), and a star marks the best embedding and all that are not significantly
    different from it.
    Tables of Schulz and Juric (2020), such as C.2, have a row per embedding and a column per set.
    json and csv output has one row per value, for programs.

    Example: medsim compare results --table all-auc --format latex
    """
    from medsim.core.manifest import output_kind
    from medsim.evaluations.compare import article_table, compared
    from medsim.questions.output import Answers
    from medsim.questions.scores import print_answers

    if output_kind(folder := folder_of(options.evaluation)) == Answers.kind.name:
        print_answers(Answers(folder), form, options)
        return
    rows, sentences = compared(options)
    if options.table == "article":
        note = " ".join(("*:" if form == "table" else "Bold:", *sentences))
        shown = [article_table(rows)]
        print_table(rows, form, readable=lambda _: shown, note=note)
    else:
        note, opening = (" ".join(sentences), []) if options.numbered else ("", sentences)
        _print_comparison(rows, opening, form, options, note)


def _print_comparison(
    rows: pl.DataFrame,
    sentences: Sequence[str],
    form: str,
    options: Any,
    note: str = "",
) -> None:
    """Print the result in sentences, a table of comparisons, a note, and the meaning of signs."""
    from medsim.evaluations.readable import readable_tables, why_missing_in

    frames = readable_tables(rows) if rows.height else [rows]
    print_table(rows, form, readable=lambda _: frames, opening=sentences, note=note)
    say_missing(options, form, why_missing_in(rows, frames))
    if {"n_better", "value"} <= set(rows.columns):
        signs = (
            "+1-0: significantly better than 1, worse than 0; "
            "*: not significantly different from the best"
        )
        say_signs(options, form, signs)
    elif any(re.search(r"\(\d", str(frame.rows())) for frame in frames):
        say_signs(options, form, "(n): number of pairs")


@command(app, CorrelateOptions)
def correlate(options: CorrelateOptions, *, form: Format = "table") -> None:
    """Correlate models' intrinsic scores with their scores on other tasks.

    Writes nothing. Tables, md and latex have a row per set and a column per task: Pearson's r with
    * for p below 0.05, ** below 0.01 and *** below 0.001, after Holm's correction for all tests
    unless --correction is none; json and csv have a row per correlation, with confidence interval,
    t-test and verdict.

    Example: medsim correlate results tasks.csv --format latex
    """
    from medsim.evaluations.correlate import correlate as run
    from medsim.evaluations.readable import readable_correlations

    correlations = call(run, options)
    is_corrected = options.correction == "holm"
    p_column, after = ("p_holm", " after Holm's correction") if is_corrected else ("p", "")
    print_table(correlations, form, readable=lambda frame: [readable_correlations(frame, p_column)])
    signs = (
        f"Pearson's r; *, **, ***: p below 0.05, 0.01, 0.001{after}; "
        "detectable r: the smallest that this many models can show at 80% power"
    )
    say_signs(options, form, signs)
    undefined = correlations.filter(correlations["r"].is_null())["verdict"]
    for verdict in undefined.unique(maintain_order=True):
        say_missing(options, form, verdict.removeprefix("undefined: "))
