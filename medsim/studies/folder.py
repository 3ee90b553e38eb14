"""The folder of a study: the files for its annotators, and apart from them the key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.core.errors import InputError, counted
from medsim.core.manifest import fingerprint, medsim_version
from medsim.core.opened import Opened
from medsim.core.output import claimed
from medsim.studies.output import ASSIGNMENT, ITEMS, STUDY, StudyManifest
from medsim.studies.sheets import SCALES, Entry, Scale, Sheet
from medsim.studies.sheets.annotate import rendered_sheet
from medsim.studies.sheets.csv_sheets import written_csv
from medsim.studies.sheets.label_studio import labelling_config, tasks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.core.output import OutputFolder
    from medsim.core.shown import Summary
    from medsim.studies.asking_options import AskedOptions
    from medsim.studies.options import GradeOptions, SampleOptions

    StudyOptions: TypeAlias = SampleOptions | GradeOptions | AskedOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDraft:
    """A study that is to be written.

    Attributes:
        items: a row per pair, with item_id; what annotators must not see.
        assignment: ``ASSIGNMENT_COLUMNS``, in order of annotator and position.
        notice: what must be known before a sheet is passed on; None where there is nothing.
        page_size: how many pairs are shown before a pause; 0 for no pauses.
    """

    scale: Scale
    items: pl.DataFrame
    assignment: pl.DataFrame
    instructions: Sequence[str]
    notice: str | None
    page_size: int = 0
    source: dict[str, object]
    warnings: Sequence[str]

    def manifest(self, options: StudyOptions) -> StudyManifest:
        """Return the manifest of the study, without its files.

        Its id, which answers name it by, is hexadecimal, 64 bits.
        """
        content = (self.scale.name, fingerprint(self.items), fingerprint(self.assignment))
        return StudyManifest(
            medsim=medsim_version(),
            study_id=canonical_digest(content)[:16],
            scale=self.scale.name,
            title=options.title,
            instructions=list(self.instructions),
            page_size=self.page_size,
            annotators=self.assignment["annotator"].unique(maintain_order=True).to_list(),
            source=self.source,
            options=options.recorded(),
            notice=self.notice,
            warnings=list(self.warnings),
            outputs={},
        )


class Study(Opened[StudyManifest]):
    """A finished study.

    Args:
        folder: where it lies.

    Raises:
        InputError: the folder holds none.

    Attributes:
        folder: where it lies.
        manifest: of the study.
    """

    kind = STUDY

    def _summary(self) -> Summary:
        annotators = self.manifest.annotators
        facts = [
            self.manifest.title,
            f"{counted(self._rows_below(ITEMS), 'item')} on the scale {self.manifest.scale}",
            counted(len(annotators), "annotator"),
        ]
        calls = [".items()", ".assignment()", "medsim.score_study(study, answers)"]
        return self._summarized(facts, calls, self._shares)

    def _shares(self) -> pl.DataFrame:
        """Return how many items each annotator sees."""
        groups = self.assignment().group_by("annotator", maintain_order=True)
        return groups.agg(pl.len().alias("items"))

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder)
        if self.manifest.scale not in SCALES:
            raise InputError(f"{folder}: the manifest names no known scale")

    @property
    def scale(self) -> Scale:
        """The scale of its answers."""
        return SCALES[self.manifest.scale]

    def items(self) -> pl.DataFrame:
        """Return a row per pair: what annotators did not see."""
        return self._checked(ITEMS)

    def assignment(self) -> pl.DataFrame:
        """Return the pairs that each annotator sees, in order of annotator and position."""
        return self._checked(ASSIGNMENT)

    def sheets(self) -> Iterator[Sheet]:
        """Yield everything that each annotator sees."""
        return _sheets(self.manifest, self.assignment())


def write_study(draft: StudyDraft, options: StudyOptions) -> Study:
    """Return the study that it writes, which appears whole or not at all."""
    manifest = draft.manifest(options)
    metadata = {"medsim": manifest.medsim, "study": manifest.study_id}
    with claimed(
        Path(options.out), STUDY, overwrite=options.overwrite, read=options.paths_read()
    ) as output:
        output.write(ITEMS, draft.items, metadata)
        output.write(ASSIGNMENT, draft.assignment, metadata)
        for sheet in _sheets(manifest, draft.assignment):
            _write_sheet(sheet, output)
        replace(manifest, outputs=dict(sorted(output.outputs.items()))).write(output.folder)
        output.publish()
    return Study(options.out)


def _sheets(manifest: StudyManifest, assignment: pl.DataFrame) -> Iterator[Sheet]:
    for (annotator,), rows in assignment.group_by("annotator", maintain_order=True):
        yield Sheet(
            study_id=manifest.study_id,
            title=manifest.title,
            annotator=str(annotator),
            scale=SCALES[manifest.scale],
            instructions=manifest.instructions,
            notice=manifest.notice,
            entries=[
                Entry(entry_id=entry_id, left=left, right=right)
                for entry_id, left, right in rows.select("entry_id", "left", "right").iter_rows()
            ],
            page_size=manifest.page_size,
        )


def _write_sheet(sheet: Sheet, output: OutputFolder) -> None:
    """Write the files that one annotator is given: one of them is enough to answer."""
    paragraphs = [sheet.notice, *sheet.instructions] if sheet.notice else sheet.instructions
    files = {
        "annotate.html": rendered_sheet(sheet),
        f"sheet-{sheet.annotator}.csv": written_csv(sheet),
        "instructions.txt": _written_instructions(sheet, paragraphs),
        f"label_studio-{sheet.annotator}.json": tasks(sheet),
        "label_studio.xml": labelling_config(sheet.scale, paragraphs),
    }
    for name, text in files.items():
        output.write_text(f"annotators/{sheet.annotator}/{name}", text, len(sheet.entries))


def _written_instructions(sheet: Sheet, paragraphs: Sequence[str]) -> str:
    """Return all instructions, with how a sheet is filled in."""
    allowed = ", ".join(one.label.lower() for one in sheet.scale.choices)
    filling = (
        f"Open annotate.html in a browser and go through the {sheet.scale.noun}s; it needs no "
        f"network. Or fill in the column answer of sheet-{sheet.annotator}.csv, and save it as "
        f"CSV. The answers are: {allowed}. Leave a cell empty where you have not "
        "judged yet, and change no other column."
    )
    return "\n\n".join([sheet.title, *paragraphs, sheet.scale.question, filling]) + "\n"
