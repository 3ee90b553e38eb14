"""The folder of a study: the files for its annotators, and separately the key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.core.errors import counted
from medsim.core.manifest import fingerprint, medsim_version
from medsim.core.opened import Opened
from medsim.core.output import claimed_by
from medsim.core.progress import Progress
from medsim.core.shown import Summary
from medsim.core.tables import read_text
from medsim.studies.output import ASSIGNED, ITEMS, STUDY, StudyManifest
from medsim.studies.sheets import (
    SCALES,
    Entry,
    Scale,
    Sheet,
    label_studio_config,
    label_studio_tasks,
    rendered_sheet,
    written_csv,
)

if TYPE_CHECKING:
    from medsim.studies.options import StudyOptions

_ID_LENGTH = 16  # hexadecimal digits: 64 bits


class Study(Opened[StudyManifest]):
    """A finished study.

    Args:
        folder: folder of the study.

    Raises:
        InputError: the folder is not a study.

    Attributes:
        folder: folder of the study.
        manifest: manifest of the study.
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
        """Return the number of items of each annotator."""
        groups = self.assignment().group_by("annotator", maintain_order=True)
        return groups.agg(pl.len().alias("items"))

    @property
    def scale(self) -> Scale:
        """Scale of the answers."""
        return SCALES[self.manifest.scale]

    def items(self) -> pl.DataFrame:
        """Return a row per pair, with the columns that annotators did not see."""
        return self._checked(ITEMS)

    def assignment(self) -> pl.DataFrame:
        """Return the pairs that each annotator sees, in order of annotator and position."""
        return self._checked(ASSIGNED.files)

    def sheets(self) -> Iterator[Sheet]:
        """Yield everything that each annotator sees."""
        return _sheets(self.manifest, self.assignment())


def write_study(
    scale: Scale,
    items: pl.DataFrame,
    presentations: Iterable[pl.DataFrame],
    options: StudyOptions,
    progress: Progress,
    **manifest_fields: Any,
) -> Study:
    """Write a study and return it; the folder appears complete or not at all.

    Args:
        scale: scale of the study.
        items: a row per item, with item_id; annotators must not see it.
        presentations: ``ASSIGNED`` of each annotator, in order of position.
        options: options of the command.
        progress: its warnings are kept in the manifest.
        manifest_fields: the source, notice, page_size and question of ``StudyManifest``.
    """
    assignment = pl.concat(presentations)
    question = manifest_fields.get("question")
    content = [scale.name, fingerprint(items), fingerprint(assignment), *filter(None, [question])]
    study_id = canonical_digest(content)[:_ID_LENGTH]
    metadata = {"study": study_id}
    with claimed_by(options, STUDY) as output:
        manifest = StudyManifest(
            medsim=medsim_version(),
            study_id=study_id,
            scale=scale.name,
            title=options.title or "",
            instructions=list(instructions_of(scale, options.instructions, question)),
            annotators=assignment["annotator"].unique(maintain_order=True).to_list(),
            options=options.recorded(),
            warnings=list(progress.warnings),
            outputs={},
            **manifest_fields,
        )
        output.write(ITEMS, items, metadata)
        output.write(ASSIGNED.files, assignment, metadata)
        for sheet in _sheets(manifest, assignment):
            for name, text in _files_of(sheet).items():
                output.write_text(f"annotators/{sheet.annotator}/{name}", text, len(sheet.entries))
        replace(manifest, outputs=dict(sorted(output.outputs.items()))).write(output.folder)
        output.publish()
    return Study(options.out)


def draw_id(*parts: object) -> str:
    """Return a digest for drawing or naming: hexadecimal, 64 bits."""
    return canonical_digest(parts)[:_ID_LENGTH]


def presentations_of(
    seed: int,
    annotator: str,
    items: pl.DataFrame,
    n_twice: int = 0,
    n_pages: int = 1,
    shown: Sequence[str] = ("term1", "term2"),
) -> pl.DataFrame:
    """Return the presentations of one annotator: ``ASSIGNED``, in order of position.

    Every page has an equal share of the items of each group, and of repeated items (Chiu et al.
    2018): shares differ by at most one item. The two presentations of an item have about the same
    position on two pages, half of all pages apart; a single page is split in two. Items of the
    consistency set, which is group 0, are shown twice only if there are too few others.

    Args:
        seed: random seed.
        annotator: name of the annotator; draws depend on it too.
        items: item_id, the columns to show, and the group of an item if there are groups.
        n_twice: the number of items to show twice.
        n_pages: the number of pages.
        shown: the columns of the two sides of a pair, or of a word, shown on the left.
    """
    n_pages = max(n_pages, 2 if n_twice else 1)
    if "group" not in items.columns:
        items = items.with_columns(group=0)
    draws = [
        pl.Series(use, [draw_id(seed, use, annotator, id_) for id_ in items["item_id"]], pl.String)
        for use in ("order", "page", "twice")
    ]
    once = (
        items.select("item_id", "group", *draws)
        .sort("group", "page")
        .with_columns(pl.int_range(pl.len()).mod(n_pages).alias("page"))
    )
    again = (
        once.with_columns(pl.col("twice").rank("ordinal").over("group", "page"))
        .sort("group", "twice", "page", descending=[True, False, False])
        .head(n_twice)
        .with_columns((pl.col("page") + n_pages // 2) % n_pages)
    )
    both = pl.concat([once.drop("twice"), again.drop("twice")]).sort("page", "order")
    showings = both.select(
        "item_id", pl.int_range(1, pl.len() + 1).over("item_id").alias("showing")
    )
    texts_of = {item_id: texts for item_id, *texts in items.select("item_id", *shown).iter_rows()}
    rows: list[tuple[object, ...]] = []
    for item_id, showing in showings.iter_rows():
        entry_id = draw_id(seed, "entry", annotator, item_id, showing)
        texts = list(texts_of[item_id])
        if int(draw_id(seed, "side", entry_id), 16) % 2:
            texts.reverse()
        left, right = (*texts, "")[:2]
        rows.append((annotator, len(rows) + 1, entry_id, item_id, showing, left, right))
    return pl.DataFrame(rows, schema=ASSIGNED.dtypes, orient="row")


def _sheets(manifest: StudyManifest, assignment: pl.DataFrame) -> Iterator[Sheet]:
    scale = SCALES[manifest.scale]
    scale = replace(scale, question=manifest.question or scale.question)
    for (annotator,), rows in assignment.group_by("annotator", maintain_order=True):
        yield Sheet(
            study_id=manifest.study_id,
            title=manifest.title,
            annotator=str(annotator),
            scale=scale,
            instructions=manifest.instructions,
            notice=manifest.notice,
            entries=[
                Entry(entry_id=entry_id, left=left, right=right)
                for entry_id, left, right in rows.select("entry_id", "left", "right").iter_rows()
            ],
            page_size=manifest.page_size,
        )


def _files_of(sheet: Sheet) -> dict[str, str]:
    """Return the files for one annotator by name; each format is enough to answer."""
    paragraphs = [sheet.notice, *sheet.instructions] if sheet.notice else sheet.instructions
    allowed = ", ".join(choice.label.lower() for choice in sheet.scale.choices)
    columns = "column answer" + (" (and comment, if you like)" if sheet.scale.commented else "")
    filling = (
        f"Open annotate.html in a browser and go through the {sheet.scale.noun}s; it needs no "
        f"network. Or fill in the {columns} of sheet-{sheet.annotator}.csv, and save it as "
        f"CSV or .xlsx. The answers are: {allowed}. Leave a cell empty if you have not "
        "judged yet, and change no other column."
    )
    instructions = [sheet.title, *paragraphs, sheet.scale.question, filling]
    return {
        "annotate.html": rendered_sheet(sheet),
        f"sheet-{sheet.annotator}.csv": written_csv(sheet),
        "instructions.txt": "\n\n".join(instructions) + "\n",
        f"label_studio-{sheet.annotator}.json": label_studio_tasks(sheet),
        "label_studio.xml": label_studio_config(sheet.scale, paragraphs),
    }


def instructions_of(
    scale: Scale, file: str | Path | None, question: str | None = None
) -> tuple[str, ...]:
    """Return paragraphs for annotators, from a text file or by default from the scale.

    Paragraphs are separated by empty lines. With another question than the scale's, the default
    ones that explain the scale's are left out.
    """
    text = scale.instructions if file is None else read_text(Path(file), guess=False).content
    paragraphs = (" ".join(lines.split()) for lines in re.split(r"\n\s*\n", text))
    instructions = tuple(filter(None, paragraphs))
    if file is None and question is not None:
        seen = "You will see pairs of terms, one pair at a time, and answer a question on each."
        return seen, instructions[-1]
    return instructions
