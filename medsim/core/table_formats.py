"""Formats of printed tables: laid out for people, or unchanged for programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import accumulate
from textwrap import TextWrapper, wrap

import polars as pl
from rich.cells import cell_len

from medsim.core import shown
from medsim.core.errors import counted, listed
from medsim.core.shown import readable


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFormat:
    """A format of printed tables.

    Attributes:
        render: function that returns a frame as text, without a final line feed.
        fitted: function that returns a frame as text that fits the width of a terminal, and a note
            for the user if its rows are printed as columns, else an empty one.
        pieces: for formats for programs: function that yields the text of frames in pieces, so that
            a large table need not be in memory.
        paragraph: for formats for people: function that returns a note below a table.
    """

    render: Callable[[pl.DataFrame], str]
    fitted: Callable[[pl.DataFrame, int], tuple[str, str]] | None = None
    pieces: Callable[[Iterator[pl.DataFrame]], Iterator[str]] | None = None
    paragraph: Callable[[str], str] = str

    @property
    def for_people(self) -> bool:
        """Whether the format is for people: numbers are rounded and columns aligned."""
        return self.pieces is None


BOLD = "\ue001"
"""The first character of a cell that formats for people print in bold, or with a star as text."""

_TURNED = (
    "the table is too wide for this terminal, so each line shows one of its columns; --format csv "
    "prints one line per row"
)
_GAP = "   "  # between columns
_NARROW_GAP = 2
_ROWS_ALIKE = 4  # minimum of equal rows to treat two columns as the same
_LONG_WORD = 24  # longer ones may be cut
_STAR = re.compile(r" (?=\*$)")
_STAR_OR_INTERVAL = re.compile(r" (?=\*$)|(?<=,) (?=[^ ]+\])")
_BOUND = "\ue000"  # replaces a space, so that no line begins after it


def _cells(
    frame: pl.DataFrame, begin: str, end: str, form: Callable[[str], str] = str
) -> list[list[str]]:
    """Return the names and values of a frame as texts, those with ``BOLD`` between two marks."""
    return [
        [begin + form(cell[1:]) + end if cell.startswith(BOLD) else form(cell) for cell in row]
        for row in readable(frame)
    ]


def _table(frame: pl.DataFrame) -> str:
    """Return a frame as lines, with numbers right-aligned and other values left-aligned."""
    if not frame.width:
        return ""
    rows = _cells(frame, "", " *")
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    numeric = [kind.is_numeric() for kind in frame.dtypes]
    lines = []
    for row in rows:
        cells = []
        for text, width, right in zip(row, widths, numeric, strict=True):
            space = " " * (width - cell_len(text))
            cells.append(space + text if right else text + space)
        lines.append(f" {_GAP.join(cells)}".rstrip())
    head, *body = lines
    rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    return "\n".join([head, f" {rule}", *body])


def _fitted_table(frame: pl.DataFrame, width: int) -> tuple[str, str]:
    """Return a frame as lines of at most ``width`` terminal columns, and a note on its layout.

    If the table does not fit, constant columns and copies of other columns move to a line above,
    and texts are wrapped, within intervals only if need be. If that is not enough, names are split
    at underscores, or a table with few rows is transposed. Else the last columns are left out, and
    a line below names them.
    """
    whole = _table(frame)
    if cell_len(max(whole.splitlines(), key=cell_len, default="")) <= width:
        return whole, ""
    numeric = [kind.is_numeric() for kind in frame.dtypes]

    def without_breaks_at(spaces: re.Pattern[str]) -> _Grid:
        cells = [[spaces.sub(_BOUND, cell) for cell in row] for row in _cells(frame, "", " *")]
        columns = list(zip(zip(*cells, strict=True), numeric, strict=True))
        return _Grid(columns=columns, width=width).hoisted()

    hoisted, unbroken = map(without_breaks_at, (_STAR, _STAR_OR_INTERVAL))
    folded = hoisted.with_folded_names(spaced=False)
    turned = hoisted.turned() if frame.height < len(hoisted.columns) else folded
    for choice in (unbroken, hoisted, folded, turned, hoisted.with_folded_names(spaced=True)):
        if choice.n_fitting == len(choice.columns):
            is_turned = choice is turned is not folded
            return choice.text(), _TURNED if is_turned else ""
    return folded.without_last().text(), ""


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Columns of texts, each starting with its name, with a line above and one below.

    The line above describes the removed columns, by name: constant ones, and copies of others.
    """

    columns: Sequence[tuple[tuple[str, ...], bool]]  # texts, and whether these are numbers
    width: int
    hidden: Mapping[str, str] = field(default_factory=dict)
    like: Mapping[str, str] = field(default_factory=dict)
    below: str = ""

    def hoisted(self) -> _Grid:
        """Return a grid with constant columns and copies of others moved to the line above."""
        hidden, like, remaining = {}, {}, []
        first: dict[tuple[str, ...], str] = {}
        for (name, *values), number in self.columns:
            other = first.setdefault(tuple(values), name)
            if len(values) > 1 and len(set(values)) == 1:
                hidden[name] = f"{name} {values[0] or 'empty'}"
            elif len(values) >= _ROWS_ALIKE and other != name:
                like[name] = other
                hidden[name] = f"{name} is the same as {other}"
            else:
                remaining.append(((name, *values), number))
        return replace(self, columns=remaining, hidden=hidden, like=like) if remaining else self

    def with_folded_names(self, *, spaced: bool) -> _Grid:
        """Return a grid with names split at underscores, optionally in values with spaces too."""
        folded = [(_at_underscores(texts, spaced), number) for texts, number in self.columns]
        return replace(self, columns=folded)

    def turned(self) -> _Grid:
        """Return the transposed grid; its first column has the names."""
        rows = zip(*(texts for texts, _ in self.columns), strict=True)
        return replace(self, columns=[(row, False) for row in rows])

    @property
    def n_fitting(self) -> int:
        """The number of columns that fit when texts with spaces are wrapped."""
        widths = (_least_width(*column) + _NARROW_GAP for column in self.columns)
        return sum(used - _NARROW_GAP < self.width for used in accumulate(widths))

    def without_last(self) -> _Grid:
        """Return a grid of the columns that fit, with a line below that names the others.

        It also names the removed copies of these, as nothing else shows their values.
        """
        n_kept = max(1, self.n_fitting)
        missing = [texts[0].replace("\n", "") for texts, _ in self.columns[n_kept:]]
        missing += [name for name, other in self.like.items() if other in missing]
        below = (
            f"{counted(len(missing), 'more column')}: {listed(missing, most=12)}; "
            "use the format csv or a wider terminal to see all"
        )
        hidden = {name: fact for name, fact in self.hidden.items() if name not in missing}
        return replace(self, columns=self.columns[:n_kept], hidden=hidden, below=below)

    def text(self) -> str:
        """Return the lines, wrapped where a column is narrower than its texts."""
        from rich import box, console, table  # noqa: PLC0415 — help and pipes do without it
        from rich.text import Text  # noqa: PLC0415 — not needed for help and pipes

        grid = table.Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False, pad_edge=False)
        grid.collapse_padding = True
        for ((name, *values), number), width in zip(self.columns, self._widths(), strict=True):
            grid.add_column(
                Text(name),
                justify="right" if number else "left",
                vertical="top",
                width=width,
                overflow="fold",
                no_wrap=not any(" " in value for value in values),
            )
        for row in zip(*(texts[1:] for texts, _ in self.columns), strict=True):
            grid.add_row(*map(Text, row))
        out = console.Console(width=self.width - 1, color_system=None, highlight=False, quiet=False)
        above = f"in every row: {', '.join(self.hidden.values())}" if self.hidden else ""
        with out.capture() as captured:
            for part in filter(None, (Text(above), grid, Text(self.below))):
                out.print(part)
        lines = captured.get().replace(_BOUND, " ").splitlines()
        return "\n".join(f" {line}".rstrip() for line in lines)

    def _widths(self) -> list[int]:
        """Return the widths of columns; the widest shrink, but not below their longest word."""
        widths = [max(map(cell_len, "\n".join(texts).split("\n"))) for texts, _ in self.columns]
        min_widths = [_least_width(*column) for column in self.columns]
        widths[-1] -= 1  # no gap follows it, so others of equal width shrink first
        min_widths[-1] -= 1
        room = self.width - 2 - _NARROW_GAP * (len(widths) - 1)
        while (excess := sum(widths) - room) > 0:
            wider = [at for at, width in enumerate(widths) if width > min_widths[at]]
            if not wider:
                break
            first, second, *_ = sorted({*(widths[at] for at in wider), 0}, reverse=True)
            widest = [at for at in wider if widths[at] == first]
            for n_left, at in zip(range(len(widest), 0, -1), widest, strict=True):
                less = min(round(excess / n_left), first - second, first - min_widths[at])
                widths[at] -= less
                excess -= less
        widths[-1] += 1
        return widths


_PIECES = re.compile(r"( +|(?<=\w{3}_)(?=\w{3}))")
"""The places to wrap texts: spaces, and underscores in names, except for short parts."""


def _at_underscores(texts: tuple[str, ...], spaced: bool) -> tuple[str, ...]:  # noqa: FBT001
    """Return the texts of a column, wrapped to the width of its longest part.

    Args:
        texts: name of the column, and its values.
        spaced: whether to wrap texts with spaces too.
    """
    is_folded = [spaced or " " not in text for text in texts]
    both = list(zip(texts, is_folded, strict=True))
    words = (word for text, fold in both for word in (_PIECES.split if fold else str.split)(text))
    wrapper = TextWrapper(max(map(len, words), default=1), break_on_hyphens=False)
    wrapper.wordsep_simple_re = _PIECES
    return tuple("\n".join(wrapper.wrap(text)) if fold else text for text, fold in both)


def _least_width(texts: tuple[str, ...], number: bool) -> int:  # noqa: FBT001
    """Return the minimum width of a column: its longest line, or longest word if it wraps."""
    if number or not any(" " in text for text in texts[1:]):
        return max(cell_len(line) for text in texts for line in text.split("\n"))
    words = max((cell_len(word) for text in texts for word in text.split()), default=1)
    return min(words, _LONG_WORD)


def _csv_pieces(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    """Yield frames as one CSV table in pieces; types that CSV does not have become text."""
    for number, frame in enumerate(frames):
        lacking = (
            c for c in frame if c.dtype.is_nested() or isinstance(c.dtype, (pl.Binary, pl.Duration))
        )
        text = frame.with_columns(map(shown.texts, lacking)).write_csv(include_header=number == 0)
        yield ("\n" if number and text else "") + text.removesuffix("\n")


def _json_pieces(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    """Yield frames as one JSON array in pieces; bytes become text."""
    between = "["
    for frame in frames:
        lacking = [shown.texts(c) for c in frame if c.dtype == pl.Binary]
        if rows := frame.with_columns(lacking).write_json().removeprefix("[").removesuffix("]"):
            yield between + rows
            between = ","
    yield "[]" if between == "[" else "]"


_INTERVAL = r"(?P<interval>\[[\d.,\s\u2013\u2212+-]*\](?![(\[:]))"  # only text to Markdown too
_MARKUP = re.compile(  # what Markdown takes for more than text, as in [a](b), <a>, *a*, _a_ or &#1;
    rf"{_INTERVAL}|[\\`*\[\]<|~$]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])"
)


def plain_markdown(text: str) -> str:
    """Return a text in one line that Markdown shows as it is, without links, images and tags."""
    line = " ".join(text.split())
    return _MARKUP.sub(lambda match: match["interval"] or f"\\{match[0]}", line)


def markdown(frame: pl.DataFrame) -> str:
    """Return a frame as a table of Markdown."""
    rules = ["--:" if kind.is_numeric() else "---" for kind in frame.dtypes]
    head, *rows = _cells(frame, "**", "**", plain_markdown)
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rules, *rows])


_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"\N{MINUS SIGN}": "$-$", "\N{DAGGER}": r"$^\dagger$", "\N{PLUS-MINUS SIGN}": r"$\pm$"}
)


def _escaped(text: str) -> str:
    """Return a text without characters that LaTeX would take for commands."""
    return text.translate(_LATEX)


def _latex(frame: pl.DataFrame) -> str:
    """Return a frame as a tabular environment, with names wrapped to the width of their values."""
    columns = ["r" if kind.is_numeric() else "l" for kind in frame.dtypes]
    names = []
    for side, (name, *values) in zip(columns, zip(*readable(frame), strict=True), strict=True):
        width = max(map(len, values), default=len(name)) or 1
        lines = wrap(name, width, break_long_words=False, break_on_hyphens=False)
        text = r" \\ ".join(map(_escaped, lines))
        names.append(rf"\shortstack[{side}]{{{text}}}" if lines[1:] else text)
    rows = []
    for values in [names, *_cells(frame, r"\textbf{", "}", _escaped)[1:]]:
        row = " & ".join(values) + r" \\"
        # Else the beginning would be an option of the line before.
        rows.append("{}" + row if row.startswith(("[", "*")) else row)
    head, *rows = rows
    begin = rf"\begin{{tabular}}{{@{{}}{''.join(columns)}@{{}}}}"
    return "\n".join(
        [begin, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    )


def _html(frame: pl.DataFrame) -> str:
    """Return a frame as a table element, a row per line."""
    return shown.html_of(_cells(frame, "<b>", "</b>", lambda text: escape(text, quote=False)))


TABLE_FORMATS = {
    "csv": TableFormat(render=lambda df: "".join(_csv_pieces(iter([df]))), pieces=_csv_pieces),
    "html": TableFormat(render=_html, paragraph=lambda text: f"<p>{escape(text, quote=False)}</p>"),
    "json": TableFormat(render=lambda df: "".join(_json_pieces(iter([df]))), pieces=_json_pieces),
    "latex": TableFormat(render=_latex, paragraph=_escaped),
    "md": TableFormat(render=markdown, paragraph=plain_markdown),
    "table": TableFormat(render=_table, fitted=_fitted_table),
}
"""The formats by name; ``printing`` repeats the names, so that help does not import Polars."""
