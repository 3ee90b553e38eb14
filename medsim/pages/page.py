"""The parts of a report: sections with charts, tables and text, and the provenance of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, TypeAlias

import polars as pl
import polars.selectors as cs

from medsim.core.data import toml_of
from medsim.core.errors import counted, listed
from medsim.core.manifest import Manifest, RunManifest, combined
from medsim.core.shown import number

MEANINGS: Mapping[str, str] = toml_of(__package__, "glossary.toml")
"""The meanings of terms that the results of reports use."""

NUMBER = ",.3f"
"""The format of a number that is not whole."""

MAX_TABLE_ROWS = 500
"""The maximum number of rows in a table of a page."""

MAX_LONG_ROWS = 50_000
"""The maximum number of rows in a long table of a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """A table that can be sorted by each of its columns.

    Attributes:
        frame: its rows; column names are the headings, a missing value is an empty cell.
        formats: the formats of columns of numbers, where they are not ``NUMBER``.
        headed: whether it has headings, to sort by; else its first column names the rows.
        few: rows with fewer "pairs" are marked.
        view: the view of the output that has all rows, where these may be more than are shown.
        filters: columns of texts by which readers can filter the rows.
    """

    caption: str
    frame: pl.DataFrame
    formats: Mapping[str, str] = field(default_factory=dict)
    headed: bool = True
    few: int = 0
    view: str = ""
    filters: Sequence[str] = ()
    max_rows: ClassVar[int] = MAX_TABLE_ROWS

    @property
    def numeric(self) -> list[str]:
        """The columns of numbers."""
        return self.frame.select(cs.numeric()).columns

    @property
    def left_out(self) -> str:
        """A sentence on the rows that are not on the page; empty if all are."""
        n_rows = self.frame.height
        if n_rows <= self.max_rows:
            return ""
        view = f'medsim sql FOLDER "from {self.view}"' if self.view else "the output"
        return f"The first {self.max_rows:,} of {n_rows:,} rows; {view} has all."


@dataclass(frozen=True, slots=True, kw_only=True)
class LongTable(PageTable):
    """A table of up to ``MAX_LONG_ROWS`` rows that can be searched, filtered and sorted.

    The page shows a hundred rows at a time, so that it stays fast.

    Attributes:
        linked: columns of identifiers that are links.
        links: addresses of identifiers, without the rest of the identifier, by their beginning.
        differing: two columns of texts that are compared; the part that differs is marked.
        below: columns that are shown below the text of another one, by that one.
        preset: values of a filter that the page chooses at first, by its column.
        filter_only: columns that readers see only as filters.
        decisions: the decisions that readers can record on the rows, if any.
    """

    max_rows: ClassVar[int] = MAX_LONG_ROWS
    linked: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    differing: Sequence[str] = ()
    below: Mapping[str, Sequence[str]] = field(default_factory=dict)
    preset: Mapping[str, Sequence[str]] = field(default_factory=dict)
    filter_only: Sequence[str] = ()
    decisions: Decisions | None = None

    @property
    def headed_columns(self) -> list[str]:
        """The columns that have a heading."""
        others = {*chain.from_iterable(self.below.values()), *self._hidden}
        return [name for name in self.frame.columns if name not in others]

    @property
    def _hidden(self) -> list[str]:
        """The columns that only the filters or the decisions need."""
        return [*self.filter_only, *(self.decisions.columns if self.decisions else ())]

    @property
    def settings(self) -> dict[str, object]:
        """The settings for the page's script."""
        return {
            "linked": self.linked,
            "links": dict(self.links),
            "differing": self.differing,
            "below": dict(self.below),
            "filters": self.filters,
            "preset": dict(self.preset),
            "hidden": self._hidden,
            "decisions": self.decisions and self.decisions.settings,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """The decisions that readers can record on the rows of a long table.

    The browser keeps them, and the page saves and opens them as the files that
    ``medsim.decisions`` reads.

    Attributes:
        name: name under which the browser keeps them; pages with the same name share them.
        subject_columns: the columns with the identifier and the name of what is decided on.
        object_columns: the same for what it is compared with; none if readers choose that.
        choices: the labels of decisions by set of choices and by decision.
        choices_of: the column that names the set of each row; readers do not see it.
        family: the column of rows that are decided together, which readers do not see; empty if
            there is none.
        together: the decision that all rows of a family get at once.
        corrections: what a decision says of two names, same or not_same, by decision. The page then
            also saves the table that ``build --corrections`` takes.
        candidates: a row per row of the table and concept that readers can choose for it, if they
            choose the object: place, that of the row; id, name, difference and probability;
            matched_name and local_name, the names that were compared, null where they are those of
            the concept and the row.
        concepts: identifier and names of all concepts that readers can search, the main name first,
            as ``compressed_json`` of a list of lists.
        concepts_left_out: a sentence on the names that the page lacks; empty if it has all.
    """

    name: str
    subject_columns: Sequence[str]
    object_columns: Sequence[str] = ()
    choices: Mapping[str, Mapping[str, str]]
    choices_of: str
    family: str = ""
    together: str = ""
    corrections: Mapping[str, str] | None = None
    candidates: pl.DataFrame | None = None
    concepts: str = ""
    concepts_left_out: str = ""

    @property
    def columns(self) -> list[str]:
        """The columns of the table that readers do not see."""
        return [*filter(None, (self.choices_of, self.family))]

    @property
    def settings(self) -> dict[str, object]:
        """The settings for the page's script."""
        return asdict(replace(self, candidates=None, concepts=""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart with its numbers.

    Attributes:
        says: how to read it and how it was computed.
        spec: its specification in Vega-Lite, without data; it draws the data set named "rows".
        rows: the data that it draws.
        narrow: whether it is drawn no wider than it is high.
        min_width: the minimum width, in pixels, at which its texts fit; on a narrower page
            it scrolls within its own box.
    """

    title: str
    says: str
    spec: Mapping[str, object]
    rows: pl.DataFrame
    table: PageTable
    narrow: bool = False
    min_width: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """Tables that are shown when their summary is clicked."""

    summary: str
    tables: Sequence[PageTable]
    opened: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Commands that a reader may run."""

    text: str


SectionPart: TypeAlias = Chart | PageTable | Folded | Code | str
"""A part of a section; a text is a paragraph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a page under its own heading.

    Attributes:
        prose: what it shows; empty where its parts say it.
        result: sentences that stand out above everything else.
    """

    title: str
    prose: str = ""
    parts: Sequence[SectionPart] = ()
    result: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A report.

    Attributes:
        lead: the outputs that it reports on.
        notice: a warning about passing the page on, if any.
        signature: the version, rows and options behind its numbers, a line under every chart.
        words: the meanings of words, which the page shows where it uses them.
    """

    title: str
    lead: str
    notice: str | None = None
    signature: str = ""
    sections: Sequence[Section]
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def terms(self) -> dict[str, str]:
        """The meanings of the glossary's terms that results use, and of ``words``."""
        text = " ".join(chain.from_iterable(section.result for section in self.sections))
        used = {word.lower() for word in any_of({**MEANINGS, **self.words}).findall(text)}
        used -= {word.lower() for word in self.words}
        # By meaning, so that none is shown twice.
        shown = {meaning: word for word, meaning in MEANINGS.items() if word.lower() in used}
        return {word: meaning for meaning, word in shown.items()} | {**self.words}


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that captures any of several words or phrases, the longest, in any case."""
    longest_first = sorted(words, key=len, reverse=True)
    either = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w-])({either})(?![\w-])", re.IGNORECASE)


def distinct(values: pl.Series) -> list[str]:
    """Return the different texts in order of their first row."""
    return list(values.unique(maintain_order=True))


SCHULZ_2020 = (
    "Schulz, C. and Juric, D. (2020). Can Embeddings Adequately Represent Medical Terminology? New "
    "Large-Scale Medical Term Similarity Datasets Have the Answer! AAAI 2020."
)
"""The paper that describes the method."""

FINGERPRINT = 12
"""The number of digits of a fingerprint that are shown, as in signatures of results."""


_NOTHING: tuple[object, ...] = (None, "", [], {})


def facts(caption: str, rows: Iterable[tuple[str, object]]) -> PageTable:
    """Return a table of named values; missing ones are left out."""
    texts = [(name, format_value(value)) for name, value in rows if value not in _NOTHING]
    frame = pl.DataFrame(texts, schema={"what": pl.String, "which": pl.String}, orient="row")
    return PageTable(caption=caption, frame=frame, headed=False)


def format_value(value: object, form: str = "") -> str:
    """Return a value of a manifest or of a table as text, numbers that are not whole as asked."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        present = {key: part for key, part in value.items() if part not in _NOTHING}
        return ", ".join(f"{key}={format_value(part)}" for key, part in present.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(format_value, value))
    if isinstance(value, float) and form:
        return number(value, form)
    return f"{value:,}" if isinstance(value, int) else str(value)


def license_notice(sources: Mapping[str, Mapping[str, object]]) -> str | None:
    """Return the notice of a page with terms of licensed sources, by name; None without any."""
    licensed = {
        name: source for name, source in sources.items() if source.get("redistributable") is False
    }
    if not licensed:
        return None
    terms_of_use = [source.get("terms_of_use") for source in licensed.values()]
    says = (
        f"This page contains terms of a licensed terminology ({listed(list(licensed))}). Do not "
        "pass it on unless the licence allows it."
    )
    return " ".join([says, *map(str, filter(None, terms_of_use))])


def with_interval(row: Mapping[str, Any]) -> str:
    """Return the value of a row with its interval, for a sentence."""
    value, low, high = (
        None if row[name] is None else number(row[name], ".3f") for name in ("value", "low", "high")
    )
    interval = "no confidence interval" if low is None else f"95% CI {low} to {high}"
    return f"{value} ({interval})"


def report(
    manifest: Manifest,
    name: str,
    *,
    commands: str,
    parts: Sequence[SectionPart] = (),
    below: str = "",
    paper: str = SCHULZ_2020,
    **shown: Any,
) -> Page:
    """Return the report of an output: a page, signed, and with where the numbers come from.

    A sentence in its first section says how many warnings there are.

    Args:
        manifest: of the output.
        name: of the output, before the digest of its rows.
        commands: how to go on.
        parts: further facts on the inputs.
        below: the beginning of the paths of files that the digest identifies; all by default.
        paper: how to cite the method.
        shown: the fields of ``Page``; its signature has only the options, by default the seed, and
            its lead gets the version.
    """
    page = Page(**shown)
    seed = manifest.options.get("seed")
    options = page.signature or ("" if seed is None else f"seed {seed}")
    digest = combined(manifest.outputs, below).fingerprint[:FINGERPRINT]
    made = f"medsim {manifest.medsim}, {name}@{digest}"
    signature = f"{made}, {options}" if options else made
    if warnings := manifest.warnings:
        frame = pl.DataFrame({"warning": warnings}, schema={"warning": pl.String})
        parts = [*parts, PageTable(caption="Warnings", frame=frame, headed=False)]
    provenance = Section(
        title="Provenance",
        prose="The inputs and options, the software, and how to cite the numbers of this page.",
        parts=[
            *parts,
            facts("Options", manifest.options.items()),
            *([_resources(manifest)] if isinstance(manifest, RunManifest) else []),
            f"Cite as: {page.title}, {signature}. The method: {paper}",
            "Explore further:",
            Code(text=commands),
        ],
    )
    sections = [*page.sections, provenance]
    if warnings:
        number = counted(len(warnings), "warning")
        said = f"This run gave {number}, listed under “Provenance”."
        sections[0] = replace(sections[0], result=[*sections[0].result, said])
    return replace(
        page,
        lead=f"{page.lead} By medsim {manifest.medsim}.",
        signature=signature,
        sections=sections,
    )


def _resources(manifest: RunManifest) -> Folded:
    """Return the versions of libraries, and the time and memory of each stage."""
    schema = {"name": pl.String, "seconds": pl.Float64, "peak_mib": pl.Int64}
    stages = pl.DataFrame(manifest.stages, schema, strict=False)
    return Folded(
        summary="Versions, time and memory",
        tables=[
            facts("Versions", {"medsim": manifest.medsim, **manifest.libraries}.items()),
            PageTable(
                caption=f"Stages, with {counted(manifest.threads, 'thread')}",
                frame=stages.rename({"name": "stage", "peak_mib": "peak memory, MiB"}),
                formats={"seconds": ",.1f"},
            ),
        ],
    )
