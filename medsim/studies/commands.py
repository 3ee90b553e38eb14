"""Commands that ask people, and score what they answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medsim.core.console import Format, Threads, app, print_table
from medsim.core.formats import TableFormat

study = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Ask people to judge a build's pairs or to rate words, and score what they answer.",
)
app.add_typer(study, name="study")


@study.command()
def sample(
    build: Annotated[Path, typer.Argument(metavar="OUT", help="The folder of a build.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the study to write.")],
    per_class: Annotated[
        int, typer.Option(help="Positives, and negatives, to draw of every dataset.")
    ] = 30,
    annotators: Annotated[
        str, typer.Option(help="How many annotators, or their names, as in ada,ben,eva.")
    ] = "3",
    title: Annotated[
        str, typer.Option(help="That annotators see.")
    ] = "Do these terms mean the same?",
    instructions: Annotated[
        Path | None, typer.Option(help="A text file that annotators read first.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of what is drawn and of its order.")] = 0,
    overwrite: Annotated[
        bool, typer.Option(help="Replace an earlier study, whose answers then fit no longer.")
    ] = False,
    form: Format = TableFormat.table,
) -> None:
    """Draw pairs of every dataset of a build for people to judge, and print how many.

    Writes a folder: annotators/NAME is what each annotator is given (a page that needs no network,
    a sheet, tasks for Label Studio), key/ is what they must not see.

    Example: medsim study sample hpo -o study --annotators ada,ben,eva
    """
    from medsim.core.progress import Progress
    from medsim.studies.sample import drawn_counts, sample_study

    made = sample_study(
        build,
        out,
        per_class=per_class,
        annotators=annotators,
        title=title,
        instructions=instructions,
        seed=seed,
        overwrite=overwrite,
        progress=Progress.to_stderr(),
    )
    print_table(drawn_counts(made), form)


@study.command()
def grade(
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS", help="CSV, TSV or Parquet with the columns term1 and term2."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the study to write.")],
    raters: Annotated[
        str, typer.Option(help="How many raters, or their names, those of a group together.")
    ] = "12",
    groups: Annotated[int, typer.Option(help="Groups of raters, each with pairs of its own.")] = 4,
    consistency: Annotated[
        int | None,
        typer.Option(help="Pairs that all rate; 50 by default, none for a single group."),
    ] = None,
    duplicates: Annotated[int, typer.Option(help="Pairs that each rater sees twice.")] = 50,
    page_size: Annotated[int, typer.Option(help="Pairs before a pause; 0 for no pauses.")] = 120,
    title: Annotated[str, typer.Option(help="That raters see.")] = "How similar are these words?",
    instructions: Annotated[
        Path | None, typer.Option(help="A text file that raters read first.")
    ] = None,
    notice: Annotated[
        str | None, typer.Option(help="What raters must know before they pass a sheet on.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of what is drawn and of its order.")] = 0,
    overwrite: Annotated[
        bool, typer.Option(help="Replace an earlier study, whose answers then fit no longer.")
    ] = False,
    form: Format = TableFormat.table,
) -> None:
    """Share pairs out among groups of raters, who grade them from 0 to 6, and print the shares.

    Writes a folder as medsim study sample does.

    Example: medsim study grade pairs.csv -o study --raters 12 --groups 4
    """
    from medsim.core.progress import Progress
    from medsim.studies.grade import grade_study, shares_of

    made = grade_study(
        pairs,
        out,
        raters=raters,
        groups=groups,
        consistency=consistency,
        duplicates=duplicates,
        page_size=page_size,
        title=title,
        instructions=instructions,
        notice=notice,
        seed=seed,
        overwrite=overwrite,
        progress=Progress.to_stderr(),
    )
    print_table(shares_of(made), form)


@study.command()
def score(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="The folder of a study.")],
    answers: Annotated[
        list[Path],
        typer.Argument(
            metavar="ANSWERS...",
            help="What annotators sent back: files of the page, sheets in CSV, exports of Label "
            "Studio, or folders of such.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A folder to write all tables to, as CSV.")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            help="Of a study of a build: quality (the paper's table 3), agreement, annotators, "
            "disagreements, corrections, missing. Of a graded one: agreement, raters, rated, "
            "parts, missing."
        ),
    ] = None,
    leave_out: Annotated[
        str | None,
        typer.Option(help="Annotators that do not count, as in ada,ben; or outliers, if graded."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    resamples: Annotated[
        int, typer.Option(help="Of the bootstrap, for intervals of agreement; 0 for none.")
    ] = 10_000,
    threads: Threads = None,
    overwrite: Annotated[bool, typer.Option(help="Replace earlier scores.")] = False,
    form: Format = TableFormat.table,
) -> None:
    """Score a study by the answers to it, and print a table, by default the first of its kind.

    Writes nothing, or with --out a folder with every table: corrections.csv is what medsim build
    --corrections takes, rated.csv what medsim eval takes. As table, md and latex an interval
    stands behind its estimate; json and csv have columns of their own for its ends.

    Example: medsim study score study answers/ --format latex
    """
    from medsim.core.progress import Progress
    from medsim.studies.folder import Study
    from medsim.studies.score import check_table, score_study
    from medsim.studies.tables import readable_scores

    opened = Study(folder)
    check_table(opened, table)  # before what takes long
    scores = score_study(
        opened,
        answers,
        out,
        leave_out=[name.strip() for name in leave_out.split(",")] if leave_out else [],
        seed=seed,
        resamples=resamples,
        threads=threads,
        overwrite=overwrite,
        progress=Progress.to_stderr(),
    )
    shown = scores.table(table)
    machine = form in {TableFormat.json, TableFormat.csv}
    print_table(shown if machine else readable_scores(shown), form)
