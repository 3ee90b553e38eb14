"""Scores a study by the answers that annotators sent back."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.config import check_seed, checked_threads
from medsim.errors import InputError, OptionError, unknown_name
from medsim.evaluation.bootstrap import RESAMPLES
from medsim.evaluation.rater_agreement import LEAST_AGREEMENT
from medsim.manifest import SCORES, ScoresManifest, medsim_version
from medsim.progress import Progress
from medsim.studies import GRADED, JUDGEMENT
from medsim.studies.answers import read_answers
from medsim.studies.csv_sheets import guarded
from medsim.studies.label_studio import annotated_tasks
from medsim.studies.returned import StudyIdentity
from medsim.workflow.evaluations.findings import Drawing
from medsim.workflow.output import check_free, claimed, resolved
from medsim.workflow.studies.folder import Study
from medsim.workflow.studies.graded import OUTLIERS, graded_tables
from medsim.workflow.studies.judged import judged_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from medsim.studies.answers import Answers


TABLES = {
    JUDGEMENT.name: ("quality", "agreement", "annotators", "disagreements", "corrections"),
    GRADED.name: ("agreement", "raters", "rated", "subsets"),
}
"""The tables of a study by the name of its scale, beside "missing"; the first is shown first."""


def check_table(study: Study, name: str | None) -> None:
    """Raise OptionError if a study has no table of that name."""
    known = [*TABLES[study.scale.name], "missing"]
    if name is not None and name not in known:
        raise OptionError(unknown_name("table", name, known))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What the answers to a study show.

    Attributes:
        study_id: of the study.
        tables: by name; the first is the one that is shown where nothing else is asked for.
        warnings: what a reader should know.
    """

    study_id: str
    tables: Mapping[str, pl.DataFrame]
    warnings: tuple[str, ...]

    def table(self, name: str | None = None) -> pl.DataFrame:
        """Return a table, by default the first.

        Raises:
            OptionError: there is no such table.
        """
        known = list(self.tables)
        if name is not None and name not in known:
            raise OptionError(unknown_name("table", name, known))
        return self.tables[known[0] if name is None else name]


def score_study(  # noqa: PLR0913 — an argument an option
    study: str | Path | Study,
    answers: Sequence[str | Path],
    out: str | Path | None = None,
    *,
    leave_out: Sequence[str] = (),
    seed: int = 0,
    resamples: int = RESAMPLES,
    threads: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Scores:
    """Return what the answers to a study show, and write it where a folder is named.

    The folder gets every table as CSV, and the answers as Label Studio imports them.

    Args:
        study: opened, or its folder.
        answers: files that annotators sent back, or folders of such: JSONL of the page, sheets in
            CSV, exports of Label Studio.
        out: the folder to write; by default nothing is written.
        leave_out: annotators whose answers do not count; "outliers" for all raters of a graded
            study that its table "raters" calls so.
        seed: of the bootstrap.
        resamples: of the bootstrap, for intervals; 0 for none.
        threads: how many to use, all available ones by default; never changes the result.
        overwrite: whether earlier scores at ``out`` may be replaced.
        progress: told of every stage; silent by default.

    Raises:
        InputError: the folder holds no study, or an answer is wrong: of another study, unknown,
            edited or contradictory.
        OptionError: an option is out of range, or nobody is left.
        OutputError: ``out`` is taken or cannot be written.
    """
    check_seed(seed)
    drawing = Drawing(seed=seed, resamples=resamples, threads=checked_threads(threads))
    opened = study if isinstance(study, Study) else Study(study)
    progress = progress or Progress()
    files = [Path(one) for one in answers]
    if out is not None:
        check_free(resolved(Path(out)), overwrite=overwrite, kind=SCORES)
    with progress.stage("read answers") as stage:
        found = _read(opened, files)
        stage.found(f"{found.frame.height:,} of {found.missing.height} annotators")
    for warning in found.warnings:
        progress.warn(warning)
    for warning in _doubts(opened, found):
        progress.warn(warning)
    with progress.stage("score"):
        tables = _tables(opened, found.frame, tuple(leave_out), drawing)
        tables["missing"] = _missing(opened.assignment(), found)
    for warning in _of_raters(tables, leave_out):
        progress.warn(warning)
    scores = Scores(
        study_id=opened.manifest.study_id, tables=tables, warnings=tuple(progress.warnings)
    )
    if out is not None:
        options: dict[str, object] = {
            "leave_out": list(leave_out),
            "seed": seed,
            "resamples": resamples,
        }
        _write(scores, opened, found, options, Path(out), overwrite=overwrite)
    return scores


def _doubts(study: Study, found: Answers) -> Iterator[str]:
    """Yield what makes scores less sure than they look."""
    if found.absent:
        yield f"no answers of {', '.join(found.absent)}; scores are of the others alone"
    items, answered = study.items()["item_id"], found.frame["item_id"].unique()
    if n_items := len(items) - len(answered):
        yield f"{n_items:,} of {len(items):,} pairs were answered by nobody and are left out"
    if study.scale is JUDGEMENT and found.missing.height == 1:
        yield "one annotator alone: its judgements are the ground truth, which nothing confirms"
    for name, n_entries, n_answered, _ in found.missing.iter_rows():
        if 2 * n_answered < n_entries:
            yield f"{name} answered less than half; say --leave-out to score without"


def _of_raters(tables: Mapping[str, pl.DataFrame], leave_out: Sequence[str]) -> Iterator[str]:
    """Yield what a graded study's raters leave in doubt."""
    if "raters" not in tables:
        return
    suspect = tables["raters"].filter(pl.col("outlier") & pl.col("accepted"))["rater"].to_list()
    if suspect:
        yield (
            f"{', '.join(suspect)} hardly agree with the others; see --table raters, and "
            f"say --leave-out {OUTLIERS} to score without"
        )
    whole = tables["agreement"].filter(pairs="all", raters="all")["iaa1"].to_list()
    if not leave_out and any(value is not None and value < LEAST_AGREEMENT for value in whole):
        yield f"raters hardly agree at all (IAA-1 {whole[0]:.2f}): no rating of theirs says much"


def _read(study: Study, files: Sequence[Path]) -> Answers:
    if not files:
        raise OptionError("name at least one file of answers, or a folder of such")
    identity = StudyIdentity(study_id=study.manifest.study_id, scale=study.scale)
    return read_answers(files, study.assignment(), identity)


def _tables(
    study: Study, answers: pl.DataFrame, leave_out: tuple[str, ...], drawing: Drawing
) -> dict[str, pl.DataFrame]:
    known = answers["annotator"].unique().sort().to_list()
    graded = study.scale is not JUDGEMENT
    for name in leave_out:
        if name not in known and not (graded and name == OUTLIERS):
            raise OptionError(unknown_name("annotator", name, known))
    if graded:
        return graded_tables(study.items(), answers, leave_out, drawing)
    kept = answers.filter(~answers["annotator"].is_in(list(leave_out)))
    if kept.is_empty():
        raise OptionError("--leave-out leaves nobody")
    return judged_tables(study.items(), kept, drawing)


def _missing(assignment: pl.DataFrame, found: Answers) -> pl.DataFrame:
    """Return what annotators who answered anything left without an answer, as they saw it."""
    return (
        assignment.filter(~assignment["annotator"].is_in(list(found.absent)))
        .join(found.frame, on="entry_id", how="anti")
        .select("annotator", "position", "left", "right")
        .sort("annotator", "position")
    )


def _write(
    scores: Scores,
    study: Study,
    found: Answers,
    options: dict[str, object],
    out: Path,
    *,
    overwrite: bool,
) -> None:
    """Write tables as CSV, and answers for Label Studio, to a folder that appears whole or not."""
    files = [{"name": path.name, "sha256": _digest(path)} for path in found.files]
    with claimed(out, overwrite=overwrite, kind=SCORES) as output:
        output.resume({})
        for name, table in scores.tables.items():
            output.write_text(f"{name}.csv", _for_spreadsheets(name, table), table.height)
        for sheet in study.sheets():
            own = dict(
                found.frame.filter(annotator=sheet.annotator)["entry_id", "value"].iter_rows()
            )
            if own:
                text = annotated_tasks(sheet, own)
                output.write_text(f"label_studio/{sheet.annotator}.json", text, len(own))
        ScoresManifest(
            medsim=medsim_version(),
            study_id=scores.study_id,
            answers=files,
            options=options,
            warnings=list(scores.warnings),
            outputs=dict(sorted(output.outputs.items())),
        ).write(output.folder)
        output.publish()


def _for_spreadsheets(name: str, table: pl.DataFrame) -> str:
    """Return a table as CSV that a spreadsheet shows as it stands and runs nothing of.

    The rated set is for programs: its terms stand as they are.
    """
    if name != "rated":
        text = (pl.col(name) for name, kind in table.schema.items() if kind == pl.String)
        table = table.with_columns(one.map_elements(guarded, pl.String) for one in text)
    return table.write_csv(include_bom=True)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
