"""The folder of a study: the files for its annotators, and separately the key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.core.errors import counted
from medsim.core.manifest import fingerprint, medsim_version
from medsim.core.opened import Opened
from medsim.core.output import OutputFolder, claimed, claimed_by
from medsim.core.progress import Progress
from medsim.core.shown import Summary
from medsim.core.tables import read_text
from medsim.studies.options import StudyOptions
from medsim.studies.output import ASSIGNED, ITEMS, STUDY, StudyManifest
from medsim.studies.sheets import (
    SCALES,
    SHEET_LANGUAGES,
    Scale,
    Sheet,
    label_studio_config,
    label_studio_tasks,
    rendered_sheet,
    table_to_fill_in,
    write_sheet,
    written_csv,
)

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
        return Summary(facts, calls, self._shares)

    def _shares(self) -> pl.DataFrame:
        """Return the number of items of each annotator."""
        groups = self.assignment().group_by("annotator", maintain_order=True)
        return groups.agg(pl.len().alias("items"))

    @property
    def scale(self) -> Scale:
        """Scale of the answers."""
        return SCALES[self.manifest.scale]

    @property
    def asked(self) -> Scale:
        """The scale with the question and the words for answers that annotators see."""
        return self.manifest.asked

    def items(self) -> pl.DataFrame:
        """Return a row per pair, with the columns that annotators did not see."""
        return self.read_checked(ITEMS)

    def assignment(self) -> pl.DataFrame:
        """Return the pairs that each annotator sees, in order of annotator and position."""
        return self.read_checked(ASSIGNED.files)

    def sheets(self) -> Iterator[Sheet]:
        """Yield everything that each annotator sees."""
        return _sheets(self.manifest, self.assignment())


def write_study(
    scale: Scale,
    items: pl.DataFrame,
    seen: Mapping[str, pl.DataFrame],
    options: StudyOptions,
    progress: Progress,
    repeats: tuple[int, int] = (0, 1),
    **manifest_fields: Any,
) -> Study:
    """Write a study and return it; the folder appears complete or not at all.

    Args:
        scale: scale of the study.
        items: a row per item, with item_id; annotators must not see it.
        seen: the items that each annotator sees.
        options: options of the command.
        progress: receives the stage; its warnings are kept in the manifest.
        repeats: the number of items to show twice, and of pages, see ``presentations_of``.
        manifest_fields: the source, notice, page_size, question and answer_words of
            ``StudyManifest``.
    """
    question, words = (manifest_fields.get(name) for name in ("question", "answer_words"))
    asked = scale.asking(question, words)
    with progress.stage("write sheets") as stage, claimed_by(options, STUDY) as output:
        presentations = [
            presentations_of(options.seed, name, given, *repeats, scale.shown)
            for name, given in seen.items()
        ]
        n_seen = max(map(len, presentations))
        stage.note(f"{counted(items.height, scale.noun)}, up to {n_seen:,} for each of {len(seen)}")
        assignment = pl.concat(presentations)
        content = [scale.name, fingerprint(items), fingerprint(assignment)]
        content += [*filter(None, [question]), *(words or [])]
        manifest = StudyManifest(
            medsim=medsim_version(),
            study_id=canonical_digest(content)[:_ID_LENGTH],
            scale=scale.name,
            title=options.title or question or SHEET_LANGUAGES[asked.language]["title"],
            instructions=instructions_of(asked, options.instructions, is_own=bool(question)),
            annotators=[*seen],
            options=options.recorded(),
            warnings=list(progress.warnings),
            outputs={},
            **{"notice": options.notice, **manifest_fields},
        )
        output.write(ITEMS, items, {"study": manifest.study_id})
        _write_sheets(output, manifest, assignment, assignment)
    return Study(options.out)


def add_to_study(study: Study, presentation: pl.DataFrame) -> Study:
    """Write the sheets of another annotator into a study and return it; other sheets stay."""
    (name,) = presentation["annotator"].unique()
    assignment = pl.concat([study.assignment(), presentation])
    before = study.manifest
    people, added = ([*earlier, name] for earlier in (before.annotators, before.added))
    manifest = replace(before, annotators=people, added=added)
    with claimed(study.folder, replace(STUDY, grows=True), overwrite=False) as output:
        output.carry_over(manifest.outputs, {ASSIGNED.files})
        _write_sheets(output, manifest, assignment, presentation)
    return Study(study.folder)


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
    showings = both.select("item_id", showing=pl.int_range(1, pl.len() + 1).over("item_id"))
    showings = showings.join(items.select("item_id", *shown), on="item_id", maintain_order="left")
    rows: list[tuple[object, ...]] = []
    for item_id, showing, *texts in showings.iter_rows():
        entry_id = draw_id(seed, "entry", annotator, item_id, showing)
        if int(draw_id(seed, "side", entry_id), 16) % 2:
            texts.reverse()
        left, right = (*texts, "")[:2]
        rows.append((annotator, len(rows) + 1, entry_id, item_id, showing, left, right))
    return pl.DataFrame(rows, schema=ASSIGNED.dtypes, orient="row")


def _write_sheets(
    output: OutputFolder, manifest: StudyManifest, assignment: pl.DataFrame, given: pl.DataFrame
) -> None:
    """Write all presentations, the sheets of those that are given now, and the manifest."""
    output.write(ASSIGNED.files, assignment, {"study": manifest.study_id})
    for sheet in _sheets(manifest, given):
        folder = f"annotators/{sheet.annotator}"
        for name, text in _files_of(sheet).items():
            output.write_text(f"{folder}/{name}", text, sheet.entries.height)
        name = f"{folder}/sheet-{sheet.annotator}.xlsx"
        output.write_file(name, partial(write_sheet, sheet))
        output.register_existing(name, table_to_fill_in(sheet))  # its bytes have the time
    replace(manifest, outputs=dict(sorted(output.outputs.items()))).write(output.folder)


def _sheets(manifest: StudyManifest, assignment: pl.DataFrame) -> Iterator[Sheet]:
    names = ("study_id", "title", "instructions", "notice", "page_size")
    shared = {name: getattr(manifest, name) for name in names} | {"scale": manifest.asked}
    for (annotator,), rows in assignment.group_by("annotator", maintain_order=True):
        yield Sheet(**shared, annotator=str(annotator), entries=rows)


def _files_of(sheet: Sheet) -> dict[str, str]:
    """Return the files for one annotator by name; each format is enough to answer."""
    paragraphs = [sheet.notice, *sheet.instructions] if sheet.notice else sheet.instructions
    filling = SHEET_LANGUAGES[sheet.scale.language]["filling"].format(
        noun=sheet.scale.noun, annotator=sheet.annotator, allowed=", ".join(sheet.scale.allowed)
    )
    instructions = [sheet.title, *paragraphs, sheet.scale.question, " ".join(filling.split())]
    return {
        "annotate.html": rendered_sheet(sheet),
        f"sheet-{sheet.annotator}.csv": written_csv(sheet),
        "instructions.txt": "\n\n".join(instructions) + "\n",
        f"label_studio-{sheet.annotator}.json": label_studio_tasks(sheet),
        "label_studio.xml": label_studio_config(sheet.scale, paragraphs),
    }


def instructions_of(scale: Scale, file: str | Path | None, *, is_own: bool) -> list[str]:
    """Return paragraphs for annotators, from a text file or by default from the scale.

    Paragraphs are separated by empty lines. If the question is the user's own, the default ones
    that explain the scale's question are left out.
    """
    text = scale.instructions.replace("{unsure}", scale.allowed[-1])
    text = text if file is None else read_text(Path(file), guess=False).content
    paragraphs = (" ".join(lines.split()) for lines in re.split(r"\n\s*\n", text))
    instructions = list(filter(None, paragraphs))
    if file is None and is_own:
        return [SHEET_LANGUAGES[scale.language]["seen"], instructions[-1]]
    return instructions
