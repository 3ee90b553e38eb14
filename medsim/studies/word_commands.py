"""The command that chooses pairs of words to rate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medsim.core.console import Format, Threads, print_table
from medsim.core.formats import TableFormat
from medsim.studies.commands import study


@study.command()
def pairs(
    words: Annotated[
        Path,
        typer.Argument(
            metavar="WORDS",
            help="Frequency table of a biomedical corpus, CSV, TSV or Parquet: columns word, "
            "class, count, and where known lemma and topics (a number, or names with ; between).",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The .csv or .parquet file to write.")],
    word_class: Annotated[
        str | None,
        typer.Option("--class", help="The class of words, such as noun; the only one by default."),
    ] = None,
    terminology: Annotated[
        Path | None,
        typer.Option(
            metavar="BUILD", help="Folder of a build; associates its synonyms and siblings."
        ),
    ] = None,
    norms: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Association norms, as of the University of South Florida, or a table with "
            "columns cue, target and where known strength; any number of files.",
        ),
    ] = None,
    biomedical: Annotated[
        Path | None,
        typer.Option(
            metavar="LIST", help="Biomedical words, one a line, or a build whose names they are."
        ),
    ] = None,
    general: Annotated[
        Path | None,
        typer.Option(
            metavar="CORPUS",
            help="Frequency table of a general corpus, which tells biomedical words instead.",
        ),
    ] = None,
    ratio: Annotated[
        float,
        typer.Option(help="For --general: how many times more often its own domain uses a word."),
    ] = 5.0,
    size: Annotated[int, typer.Option(help="Pairs to choose, in four equal quarters.")] = 1_000,
    min_count: Annotated[int, typer.Option(help="Smallest count of a word, all forms added.")] = 5,
    min_length: Annotated[int, typer.Option(help="Fewest letters of a word.")] = 3,
    per_word: Annotated[int, typer.Option(help="Most pairs that a word is in.")] = 3,
    no_lemmas: Annotated[
        bool, typer.Option("--no-lemmas", help="Make no lemmas where the table has none.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the draws and of the order.")] = 0,
    threads: Threads = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a file that is there.")] = False,
    form: Format = TableFormat.table,
) -> None:
    """Choose pairs of words to rate, as for Bio-SimLex and Bio-SimVerb, and print the quarters.

    Writes a file with a row per pair: terms, class, domain, whether and why they are associated,
    counts and topics, in an order drawn from the seed.

    Example: medsim study pairs words.csv -o pairs.csv --class noun --terminology hpo
    --biomedical hpo --norms usf.txt
    """
    from medsim.core.progress import Progress
    from medsim.studies.word_pairs import choose_pairs
    from medsim.studies.words.pairs import check_file

    check_file(out, overwrite=overwrite)
    progress = Progress.to_stderr()
    chosen = choose_pairs(
        words,
        word_class=word_class,
        terminology=terminology,
        norms=norms,
        domain_words=biomedical,
        general=general,
        ratio=ratio,
        size=size,
        min_count=min_count,
        min_length=min_length,
        per_word=per_word,
        make_lemmas=not no_lemmas,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    chosen.write(out, overwrite=overwrite)
    for one in chosen.left_out:
        progress.say(f"left out, {one.reason}: {one.n_rows:,}")
    for warning in chosen.warnings:
        progress.say(f"warning: {warning}")
    print_table(chosen.quarters(), form)
