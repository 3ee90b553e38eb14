"""Scores a study by the answers that annotators sent back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.config import check_seed, checked_threads
from medsim.core.errors import OptionError, unknown_name
from medsim.core.manifest import SCORES
from medsim.core.output import check_free, resolved
from medsim.core.progress import Progress
from medsim.statistics.resampling import RESAMPLES, Resampling
from medsim.studies.doubts import doubts_of_answers, doubts_of_raters
from medsim.studies.folder import Study
from medsim.studies.graded import OUTLIERS, graded_tables
from medsim.studies.judged import judged_tables
from medsim.studies.score_folder import write_scores
from medsim.studies.sheets import GRADED, JUDGEMENT
from medsim.studies.sheets.answers import read_answers
from medsim.studies.sheets.returned import StudyIdentity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from medsim.studies.sheets.answers import Answers


TABLES = {
    JUDGEMENT.name: ("quality", "agreement", "annotators", "disagreements", "corrections"),
    GRADED.name: ("agreement", "raters", "rated", "parts"),
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
    resampling = Resampling(seed=seed, resamples=resamples, threads=checked_threads(threads))
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
    for warning in doubts_of_answers(opened, found, leave_out):
        progress.warn(warning)
    with progress.stage("score"):
        tables = _tables(opened, found.frame, tuple(leave_out), resampling)
        tables["missing"] = _missing(opened.assignment(), found)
    for warning in doubts_of_raters(tables, leave_out):
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
        write_scores(scores, opened, found, options, Path(out), overwrite=overwrite)
    return scores


def _read(study: Study, files: Sequence[Path]) -> Answers:
    if not files:
        raise OptionError("name at least one file of answers, or a folder of such")
    identity = StudyIdentity(study_id=study.manifest.study_id, scale=study.scale)
    return read_answers(files, study.assignment(), identity)


def _tables(
    study: Study, answers: pl.DataFrame, leave_out: tuple[str, ...], resampling: Resampling
) -> dict[str, pl.DataFrame]:
    known = answers["annotator"].unique().sort().to_list()
    graded = study.scale is not JUDGEMENT
    for name in leave_out:
        if name not in known and not (graded and name == OUTLIERS):
            raise OptionError(unknown_name("annotator", name, known))
    if graded:
        return graded_tables(study.items(), answers, leave_out, resampling)
    kept = answers.filter(~answers["annotator"].is_in(list(leave_out)))
    if kept.is_empty():
        raise OptionError("--leave-out leaves nobody")
    return judged_tables(study.items(), kept, resampling)


def _missing(assignment: pl.DataFrame, found: Answers) -> pl.DataFrame:
    """Return what annotators who answered anything left without an answer, as they saw it."""
    return (
        assignment.filter(~assignment["annotator"].is_in(list(found.absent)))
        .join(found.frame, on="entry_id", how="anti")
        .select("annotator", "position", "left", "right")
        .sort("annotator", "position")
    )
