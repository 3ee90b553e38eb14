"""Formats in which tables are printed: a module each, whose name is the format's.

Such a module has a function ``render``, which returns a frame as text without a line feed at its
end, and ``FOR_PEOPLE``, whether it is to be read rather than parsed: then numbers are rounded and
tables are laid out for a reader. A format for programs may have a function ``pieces`` as well, for
more rows than are to be held at once, and one for people a function ``fitted``, for terminals.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from medsim.core.errors import OptionError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl


class TableFormat(Protocol):
    """The module of a format."""

    FOR_PEOPLE: bool

    def render(self, frame: pl.DataFrame) -> str:
        """Return a frame as text, without a line feed at its end."""


@runtime_checkable
class FittedFormat(TableFormat, Protocol):
    """The module of a format that can be as wide as a terminal."""

    def fitted(self, frame: pl.DataFrame, width: int) -> str:
        """Return a frame as text whose lines have at most ``width`` columns."""


@runtime_checkable
class StreamedFormat(Protocol):
    """The module of a format of which a part can be written before all is known."""

    def pieces(self, frames: Iterator[pl.DataFrame]) -> Iterator[str]:
        """Yield the text of frames as one, in pieces; the last ends without a line feed."""


def table_formats() -> list[str]:
    """Return the names of all formats; no module of them is imported."""
    return sorted(module.name for module in iter_modules(__path__))


def table_format_name(name: str) -> str:
    """Return the name of a format, if it is one."""
    if name not in table_formats():
        raise OptionError(unknown_name("format", name, table_formats()))
    return name


def table_format(name: str) -> TableFormat:
    """Return the format with a name."""
    return cast("TableFormat", import_module(f"{__name__}.{table_format_name(name)}"))
