"""Commands that ask people to judge or rate pairs, and score their answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from medsim.core.console import command, subcommands
from medsim.core.options import call
from medsim.core.printing import Format, print_table, quoted, say_missing, say_next, say_signs
from medsim.core.progress import progress_of
from medsim.studies.options import (
    AddOptions,
    DomainsOptions,
    GradeOptions,
    InspectOptions,
    InstancesOptions,
    PairsFileOptions,
    SampleOptions,
    ScoreOptions,
    StudyOptions,
)

if TYPE_CHECKING:
    import polars as pl

study = subcommands(
    "study",
    "Ask people to judge pairs, rate or sort words, or label instances, and score their answers.",
)


@command(study, SampleOptions, then=("study score",))
def sample(options: SampleOptions, *, form: Format = "table") -> None:
    """Have people judge pairs of a build, or all pairs of a table, and print how many.

    Draws pairs of every set of a build. A table is .xlsx, CSV, TSV or Parquet; a column label has
    the known answers (same or not_same, 1 or 0), and other columns are kept for the results. Writes
    a folder: annotators/NAME is for each annotator (a page that needs no network, sheets, tasks for
    Label Studio); annotators must not see key/.

    Example: medsim study sample hpo -o study --annotators ada,ben,eva
    """
    from medsim.studies.asking import drawn_counts, sample_study, shown_counts

    study = call(sample_study, options)
    counts = shown_counts(study) if options.is_table else drawn_counts(study.items())
    _print_asked(counts, options, form)


@command(study, GradeOptions, then=("study score",))
def grade(options: GradeOptions, *, form: Format = "table") -> None:
    """Divide pairs among groups of raters, who grade them from 0 to 6, and print their numbers.

    Reads CSV, TSV or Parquet, whose other columns are kept for the results. All raters rate the
    consistency set, 50 pairs by default, none for a single group. Writes a folder as medsim study
    sample does.

    Example: medsim study grade pairs.csv -o study --raters 12
    """
    from medsim.studies.asking import grade_study, rater_counts

    _print_asked(rater_counts(call(grade_study, options)), options, form)


@command(study, InstancesOptions, then=("study score",))
def instances(options: InstancesOptions, *, form: Format = "table") -> None:
    """Draw instances of words in context for people to label, and print how many each gets.

    Reads test.json of BioWiC, or of medsim wic build, or a folder that has it. Writes a folder as
    medsim study sample does. Its scores have human agreement and accuracy, for medsim wic eval
    --people.

    Example: medsim study instances biowic -o study --annotators ada,ben
    """
    from medsim.studies.asking import instances_study, shown_counts

    _print_asked(shown_counts(call(instances_study, options)), options, form)


@command(study, DomainsOptions, then=("study score",))
def domains(options: DomainsOptions, *, form: Format = "table") -> None:
    """Have people sort words into biomedical and general ones, and print how many each gets.

    Reads a frequency table as medsim study pairs does. Writes a folder as medsim study sample does.
    Its scores have the words on which people agree, for medsim study pairs --domains.

    Example: medsim study domains words.csv -o study --word-class noun --size 500
    """
    from medsim.studies.asking import domains_study, shown_counts

    _print_asked(shown_counts(call(domains_study, options)), options, form)


@command(study, InspectOptions, then=("study score",))
def inspect(options: InspectOptions, *, form: Format = "table") -> None:
    """Have people inspect associated pairs of words, and print how many each gets.

    Reads CSV, TSV or Parquet; if it has a column domain or associated, as medsim study pairs writes
    them, only associated biomedical pairs are shown. Writes a folder as medsim study sample does.
    Its scores have the pairs that people confirm, for medsim study pairs --confirmed.

    Example: medsim study inspect pairs.csv -o study --annotators ada,ben
    """
    from medsim.studies.asking import inspect_study, shown_counts

    _print_asked(shown_counts(call(inspect_study, options)), options, form)


@command(study, AddOptions, then=("study score",))
def add(options: AddOptions, *, form: Format = "table") -> None:
    """Add an annotator to a study, and print how many items each has.

    Writes annotators/NAME into the study, with the items that have fewer answers than people asked,
    or all without ANSWERS. The sheets and answers of others stay valid.

    Example: medsim study add study gil answers/
    """
    from medsim.studies.asking import add_annotator, shown_counts

    study = call(add_annotator, options)
    print_table(shown_counts(study), form)
    say_next(options, f"send the folder {quoted(study.folder)}/annotators/{options.name}")


@command(study, ScoreOptions, then=("build", "eval", "study pairs", "wic eval", "report"))
def score(
    options: ScoreOptions,
    *,
    table: Annotated[
        str | None,
        typer.Option(
            help="quality (table 3 of the paper), agreement, annotators, judged, disagreements, "
            "corrections, parts, raters, rated, accuracy, domains, confirmed, answers or missing."
        ),
    ] = None,
    form: Format = "table",
) -> None:
    """Score a study from its answers, and print a table.

    Reads what annotators sent back: files of the page, sheets in CSV, TSV or .xlsx, exports of
    Label Studio, or folders of them, in which a person's later file replaces the earlier one.
    --leave-out outliers leaves out the outliers of a graded study. Writes nothing, or with --out a
    folder with every table: corrections.csv for medsim build --corrections, rated.csv for medsim
    eval, domains.csv and confirmed.csv for medsim study pairs; and methods.txt for a paper.
    In tables, md and latex a confidence interval follows its estimate; json and csv have columns
    for its ends.

    Example: medsim study score study answers/ --format latex
    """
    from medsim.core.shown import why_missing
    from medsim.studies.output import NEXT_STEPS, WHY_MISSING, texts_of_statistics
    from medsim.studies.page import score_sentences
    from medsim.studies.score import check_table, readable_scores, score_study

    check_table(options.study, table)  # before the slow steps
    scores = call(score_study, options)
    shown = scores.table(table)
    opening = score_sentences(scores.tables) if table is None else ()
    print_table(shown, form, readable=lambda frame: [readable_scores(frame)], opening=opening)
    lines = texts_of_statistics("line")
    if signs := "; ".join(line for name, line in lines.items() if name in shown.columns):
        say_signs(options, form, signs)
    say_missing(options, form, why_missing(shown, WHY_MISSING))
    if options.out is not None:
        draws = "for a report, run medsim report {out} -o scores.html"
        written = {name for name, rows in scores.tables.items() if rows.height}
        steps = [draws, *(step for name, step in NEXT_STEPS.items() if name in written)]
        say_next(options, *steps)


@command(study, PairsFileOptions, then=("study inspect", "study grade"))
def pairs(options: PairsFileOptions, *, form: Format = "table") -> None:
    """Choose pairs of words to rate, as for Bio-SimLex and Bio-SimVerb, and print their numbers.

    Reads a frequency table as CSV, TSV or Parquet, with columns word, class and count, and
    optionally lemma and topics (a number, or names separated by ;). With --documents, a table with
    columns document and topics, it has a column documents instead of topics.

    Synonyms and siblings in a --terminology are associated. With --lexicon, the files LRNOM, LRAGR
    and LRSPL of the SPECIALIST Lexicon or their folder, variants of names count too, such as
    phosphorylate for phosphorylation. --norms are files of the University of South Florida, or
    tables with cue, target and optionally strength. --confirmed, a table of medsim study score,
    keeps only its pairs among the associated biomedical ones.

    Words in --biomedical are biomedical, all others general. Or --domains, a table of medsim study
    score, has the domains and leaves out other words. With only --general, the corpus that uses a
    word more often decides.

    Writes a file with a row per pair: terms, class, domain, whether and why they are associated,
    counts and topics, in an order drawn from the seed.

    Example: medsim study pairs words.csv -o pairs.csv --word-class noun --terminology hpo
    --biomedical hpo --norms usf.txt
    """
    from medsim.core.output import check_not_input
    from medsim.studies.word_pairs import check_pairs_place, choose_pairs

    check_not_input(Path(options.out), options.paths_read())
    check_pairs_place(Path(options.out), overwrite=options.overwrite)
    chosen = call(choose_pairs, options)
    chosen.write(options.out, overwrite=options.overwrite)
    progress = progress_of(options.progress)
    for skipped in chosen.left_out:
        if skipped.n_rows:
            progress.say(f"left out, {skipped.reason}: {skipped.n_rows:,}")
    if chosen.frequency_correlation is not None:
        correlation = f"{chosen.frequency_correlation:.2f}"
        progress.say(f"Spearman's correlation of word frequencies in both corpora: {correlation}")
    progress.warn(*chosen.warnings)
    print_table(chosen.quarters(), form)
    say_next(
        options,
        "to have people rate them, run medsim study grade {out} -o STUDY",
        "to check associations, run medsim study inspect {out} -o STUDY",
    )


def _print_asked(table: pl.DataFrame, options: StudyOptions, form: Format) -> None:
    print_table(table, form)
    say_next(
        options,
        "send each annotator the folder {out}/annotators/NAME",
        "to score their answers, run medsim study score {out} ANSWERS",
    )
