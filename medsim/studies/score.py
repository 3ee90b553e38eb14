"""Scores a study from the answers that annotators sent back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from random import SystemRandom
from string import ascii_uppercase

import polars as pl

from medsim.core.errors import OptionError, counted, listed, unknown_name
from medsim.core.files import write_file
from medsim.core.manifest import medsim_version
from medsim.core.options import PathOrOutput, folder_of, public
from medsim.core.output import check_file_free, check_free, check_not_input, claimed_by, resolved
from medsim.core.progress import progress_of
from medsim.core.shown import MISSING, Shown, Summary, readable_text, texts
from medsim.core.tables import guarded, harmless, read_table
from medsim.pages.readable import with_ends
from medsim.statistics.strata import PAIR_PROPERTIES
from medsim.studies.folder import Study
from medsim.studies.graded import MIN_AGREEMENT, OUTLIERS, graded_tables
from medsim.studies.judged import compared_tables, judged_tables
from medsim.studies.options import ScoreOptions
from medsim.studies.output import (
    EVERY,
    ITEM_TABLES,
    MAX_PARTS,
    SCORE_TABLES,
    STUDY_SCORES,
    WHY_MISSING,
    ScoresManifest,
)
from medsim.studies.page import ENDS, methods_of
from medsim.studies.sheets import GRADED, JUDGEMENT
from medsim.studies.sheets.answers import StudyAnswers, StudyIdentity, read_answers


def check_table(study: PathOrOutput, name: str | None) -> None:
    """Raise OptionError if a study has no table ``name``."""
    _chosen(name, [*SCORE_TABLES[Study(folder_of(study)).scale.name], "answers", "missing"])


def _chosen(name: str | None, names: list[str]) -> str:
    """Return the name of a known table, by default the first."""
    if name is not None and name not in names:
        raise OptionError(unknown_name("table", name, names))
    return names[0] if name is None else name


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scores(Shown):
    """The scores of a study.

    Attributes:
        study_id: identifier of the study.
        tables: tables by name; the first is shown by default.
        methods: a paragraph for a paper on how the study was done and what it found.
        warnings: warnings for readers of the scores.
    """

    study_id: str
    tables: Mapping[str, pl.DataFrame]
    methods: str
    warnings: tuple[str, ...]

    def _summary(self) -> Summary:
        facts = [f"study {self.study_id}", f"tables {', '.join(self.tables)}"]
        facts += [counted(len(self.warnings), "warning")] if self.warnings else []
        return Summary(facts, [".table(name)"], table=self.table)

    def table(self, name: str | None = None) -> pl.DataFrame:
        """Return a table, by default the first.

        Raises:
            OptionError: there is no such table.
        """
        return self.tables[_chosen(name, list(self.tables))]


@public(ScoreOptions)
def score_study(options: ScoreOptions) -> Scores:
    """Return the scores of a study from its answers, and write them if a folder is given.

    The folder contains every table as CSV.

    Raises:
        InputError: the folder is not a study, or an answer is invalid: of another study, unknown,
            edited or contradictory.
        OptionError: an option is out of range, or no annotator is left.
        OutputError: ``out`` is taken or cannot be written.
    """
    study, progress = Study(folder_of(options.study)), progress_of(options.progress)
    if options.out is not None:
        check_not_input(Path(options.out), options.paths_read(), map(Path, options.answers))
        check_free(resolved(Path(options.out)), STUDY_SCORES, overwrite=options.overwrite)
    people, hidden = study.manifest.annotators, dict[str, str]()
    if options.pseudonyms is not None:
        hidden = pseudonyms_of(Path(options.pseudonyms), people)
        others = tuple(hidden.get(name, name) for name in options.leave_out)
        people, options = [hidden[name] for name in people], replace(options, leave_out=others)
    for name in options.leave_out:
        if name not in people and not (study.scale.graded and name == OUTLIERS):
            raise OptionError(unknown_name("annotator", name, people))
    with progress.stage("read answers") as stage:
        identity = StudyIdentity(study_id=study.manifest.study_id, scale=study.asked)
        answers = read_answers([*map(Path, options.answers)], study.assignment(), identity)
        answers = with_pseudonyms(answers, hidden) if hidden else answers
        given = answers.entries.drop_nulls("value")
        n_answers, n_people = given.height, given["annotator"].n_unique()
        stage.note(f"{counted(n_answers, 'answer')} of {counted(n_people, 'annotator')}")
    asked = answers.entries.filter(~pl.col("annotator").is_in(list(options.leave_out)))
    missing = asked.filter(pl.col("value").is_null())
    added = [hidden.get(name, name) for name in study.manifest.added]
    needed = needed_answers(asked, added)
    progress.warn(*answers.warnings, *warnings_of_answers(study, asked, missing, added))
    with progress.stage("score"):
        tables = _tables(study, given, needed, options)
        if given["seconds"].count():
            name = "raters" if study.scale is GRADED else "annotators"
            tables[name] = _timed(tables[name], given)
        tables["answers"] = _answers(study, asked)
        tables["missing"] = missing.select("annotator", "position", "left", "right", "comment")
    n_items = needed.filter(pl.col("value").is_null())["item_id"].n_unique()
    if n_items and not options.incomplete:
        share = f"{n_items:,} of {study.items().height:,} {study.scale.noun}s"
        for name in _OF_COMPLETE & tables.keys():
            progress.warn(f"{share} lack answers and are not in {name}; add `incomplete`")
    progress.warn(*warnings_of_raters(tables, options.leave_out))
    scores = Scores(
        study_id=study.manifest.study_id,
        tables=tables,
        methods=methods_of(study.asked, asked, tables, options.resampling),
        warnings=tuple(progress.warnings),
    )
    if options.out is not None:
        _write(scores, study, answers, options)
    return scores


def needed_answers(asked: pl.DataFrame, added: Sequence[str]) -> pl.DataFrame:
    """Return the answers that were asked for without missing ones that are not needed.

    Annotators who were added answer in place of others. So none of their own missing answers is
    needed, and for each answer that they gave to an item, one less of those that others lack.
    """
    is_added, is_missing = pl.col("annotator").is_in(added), pl.col("value").is_null()
    n_given = (is_added & ~is_missing).sum().over("item_id")
    number = (is_missing & ~is_added).cum_sum().over("item_id")
    return asked.filter(~is_missing | (~is_added & (number > n_given)))


def _tables(
    study: Study, answers: pl.DataFrame, asked: pl.DataFrame, options: ScoreOptions
) -> dict[str, pl.DataFrame]:
    resampling = options.resampling
    if study.scale is GRADED:
        return graded_tables(
            study.items(),
            answers,
            options.leave_out,
            resampling,
            outlier_share=options.outlier_share,
            equal_parts=options.equal_parts,
        )
    remaining = asked.drop_nulls("value")
    if remaining.is_empty():
        raise OptionError("`leave_out` leaves no answers")
    items, incomplete = study.items(), options.incomplete
    if study.scale is JUDGEMENT:
        return judged_tables(_commented(items, asked), asked, resampling, incomplete=incomplete)
    return compared_tables(study.scale, items, remaining if incomplete else asked, resampling)


def _timed(people: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Return a table of annotators, in its first column, with their median seconds for an item."""
    medians = answers.group_by(who="annotator").agg(median_seconds=pl.col("seconds").median())
    return people.join(medians, left_on=people.columns[0], right_on="who", how="left")


def _answers(study: Study, asked: pl.DataFrame) -> pl.DataFrame:
    """Return who answered what, with the columns of items that are not all null."""
    words = {choice.value: choice.label.lower() for choice in study.asked.choices}
    answers = asked.with_columns(
        answer=pl.col("value").replace_strict(words, return_dtype=pl.String)
    ).select(*EVERY["answers"].dtypes)
    items = study.items()
    known = items.select(column.name for column in items if column.count())
    return answers.join(known, on="item_id", maintain_order="left")


def _commented(items: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Return items with a column comments, such as "ada: a symptom; ben: …", if there are any."""
    said = pl.concat_str("annotator", pl.lit(": "), "comment").str.join("; ")
    given = answers.drop_nulls("comment")
    by_item = given.group_by("item_id", maintain_order=True).agg(comments=said)
    if by_item.is_empty():
        return items
    return items.join(by_item, on="item_id", how="left", maintain_order="left")


def _for_spreadsheets(table: pl.DataFrame, declared: Collection[str]) -> pl.DataFrame:
    """Return a table with an apostrophe before texts that spreadsheets would change or run.

    Answers and the user's own columns may be numbers, and stay as they are unless they would run.
    """
    texts = table.select(pl.col(pl.String)).columns
    texts = [name for name in texts if name in declared and name != "answer"]
    own = harmless(table.drop(texts)).get_columns()
    return table.with_columns(*own, pl.col(texts).map_elements(guarded, pl.String))


def _write(scores: Scores, study: Study, answers: StudyAnswers, options: ScoreOptions) -> None:
    """Write tables as CSV to the folder ``out``, which appears complete or not at all."""
    with claimed_by(options, STUDY_SCORES) as output:
        for name, table in scores.tables.items():
            # For spreadsheets; the rated set is for programs.
            of_scale = {**SCORE_TABLES[study.scale.name], **EVERY}[name].dtypes
            declared = {*of_scale, *ITEM_TABLES[study.scale.name].dtypes}
            written = table if name == "rated" else _for_spreadsheets(table, declared)
            output.write_text(f"{name}.csv", written.write_csv(include_bom=True), table.height)
        output.write_text("methods.txt", f"{scores.methods}\n", 1)
        ScoresManifest(
            medsim=medsim_version(),
            study_id=scores.study_id,
            answers=list(answers.files),
            source=study.manifest.source,
            question=study.asked.question,
            options=options.recorded(),
            warnings=list(scores.warnings),
            outputs=dict(sorted(output.outputs.items())),
        ).write(output.folder)


_PSEUDONYMS = ("annotator", "pseudonym")


def pseudonyms_of(path: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the pseudonym of each annotator: judge A, judge B, and so on.

    Pseudonyms in the file stay. The others are drawn at random and added to the file. The draw has
    no seed, so that people who know the names cannot repeat it.

    Raises:
        InputError: the file exists and is not a table of annotators and pseudonyms.
        OutputError: the file cannot be written.
    """
    known = dict(read_table(path, _PSEUDONYMS).frame.iter_rows()) if path.exists() else {}
    others = [name for name in names if name not in known]
    letters = chain(ascii_uppercase, count(len(ascii_uppercase) + 1))
    free = (name for letter in letters if (name := f"judge {letter}") not in known.values())
    if others:
        known |= dict(zip(SystemRandom().sample(others, len(others)), free, strict=False))
        check_file_free(path, overwrite=True)
        key = pl.DataFrame([*known.items()], _PSEUDONYMS, orient="row")
        write_file(path, key.write_csv().encode(), overwrite=True)
    return known


def with_pseudonyms(answers: StudyAnswers, pseudonyms: Mapping[str, str]) -> StudyAnswers:
    """Return answers without the names of annotators, also in warnings and names of files."""
    shown = {name.lower(): other for name, other in pseudonyms.items()}
    for at, file in enumerate(answers.files, start=1):
        shown[file["name"].lower()] = f"file {at} of {pseudonyms[file['annotator']]}"
    names = "|".join(map(re.escape, sorted(shown, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)({names})(?!\w)", re.IGNORECASE)
    hide = partial(pattern.sub, lambda match: shown[match[0].lower()])
    annotator = pl.col("annotator").replace(pseudonyms)
    return StudyAnswers(
        entries=answers.entries.with_columns(annotator).sort("annotator", "position"),
        warnings=tuple(map(hide, answers.warnings)),
        files=tuple({key: hide(text) for key, text in file.items()} for file in answers.files),
    )


_OF_COMPLETE = {"corrections", "domains", "confirmed"}  # tables of items that all answered
_LONGEST = 80  # characters of a term in a table to be read
_PATTERN = 10  # ratings in a row that the page also warns about
_PATTERNS = {"longest_run": "are equal", "longest_alternation": "alternate between two values"}


def warnings_of_answers(
    study: Study, asked: pl.DataFrame, missing: pl.DataFrame, added: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence for each kind of missing answers, among those that were asked for.

    ``added`` are the annotators who were added later, as the answers name them.
    """
    noun, n_items = study.scale.noun, study.items().height
    n_asked, n_missing = Counter(asked["annotator"]), Counter(missing["annotator"])
    if missing.height:
        yield f"{missing.height:,} of {counted(asked.height, 'answer')} are missing"
    late = sorted(name for name in n_missing if n_missing[name] == n_asked[name])
    if asked_first := [name for name in late if name not in added]:
        fault = "they count as asked unless `leave_out` names them"
        yield f"no answers from {listed(asked_first)}; {fault}"
    if added_later := [name for name in late if name in added]:
        yield f"no answers from {listed(added_later)}, added later"
    known = {*ITEM_TABLES[study.scale.name].dtypes, *PAIR_PROPERTIES}
    own = study.items().drop(known, strict=False)
    many = [column.name for column in own if column.n_unique() > MAX_PARTS]
    if many and "parts" in SCORE_TABLES[study.scale.name]:
        yield f"parts leaves out columns with more than {MAX_PARTS} values: {listed(many)}"
    answered = asked.join(missing, on="entry_id", how="anti")["item_id"].n_unique()
    if answered < n_items:
        yield f"{n_items - answered:,} of {n_items:,} {noun}s have no answer and are left out"
    if len(n_asked) - len(late) == 1 and not study.scale.graded:
        yield "there is only one annotator, so agreement cannot be measured"
    for name in sorted(n_missing.keys() - late):
        share = f"{n_asked[name] - n_missing[name]:,} of {n_asked[name]:,} {noun}s answered"
        hint = f"; add `leave_out` {name} to score without" * (2 * n_missing[name] > n_asked[name])
        yield f"{name}: {share}{hint}"


def warnings_of_raters(
    tables: Mapping[str, pl.DataFrame], leave_out: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence on each rater of a graded study whose ratings are suspect.

    Outliers are suspect, and so are patterns of at least ten ratings in a row (Chiu et al. 2018).
    The last sentence is yielded if raters hardly agree at all.
    """
    if "raters" not in tables:
        return
    for column, pattern in _PATTERNS.items():
        rows = tables["raters"].filter(pl.col(column) >= _PATTERN)
        for name, length in rows.select("rater", column).iter_rows():
            yield f"{length} ratings of {name} in a row {pattern}"
    suspect = tables["raters"].filter(pl.col("outlier") & pl.col("accepted"))["rater"].to_list()
    if suspect:
        agree = "agrees" if len(suspect) == 1 else "agree"
        yield (
            f"{listed(suspect)} hardly {agree} with the others, see the table raters; add "
            f"`leave_out` {OUTLIERS} to score without"
        )
    whole = tables["agreement"].filter(pairs="all", raters="all")["iaa1"].to_list()
    if not leave_out and any(value is not None and value < MIN_AGREEMENT for value in whole):
        yield f"raters hardly agree at all (IAA-1 {whole[0]:.2f}), so the ratings mean little"


def readable_scores(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with one column for every three such as alpha, alpha_low and alpha_high."""
    columns: list[pl.Series] = []
    for name in table.columns:
        column, ends = table[name], [name + end for end in ENDS]
        if set(ends) <= set(table.columns):
            text = with_ends(name, *ends).fill_null(MISSING).alias(name)
            columns.append(table.select(text).to_series())
        elif column.dtype == pl.String:
            short = column.str.slice(0, _LONGEST - 1) + "\N{HORIZONTAL ELLIPSIS}"
            is_short = column.str.len_chars() <= _LONGEST
            columns.append(column.zip_with(is_short.fill_null(value=True), short))
        elif name in WHY_MISSING and column.null_count():
            columns.append(texts(column, readable_text).fill_null(MISSING))
        elif not name.endswith(ENDS):
            columns.append(column)
    return pl.DataFrame(columns)
