"""Paths that DuckDB takes as they are."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from medsim.core.errors import OutputError

_PLAIN = re.compile(r"/[\w/ .,:@+-]*")  # nothing that DuckDB takes for a pattern or a column


class PlainPaths:
    """Paths to folders in which DuckDB finds no pattern and no column, until they are closed.

    It takes brackets for patterns even where they are escaped, a backslash for a slash, and ``a=b``
    for a column of every row. Where the path of a folder has such, a link in a temporary folder
    leads there.
    """

    def __init__(self) -> None:
        self._links = ExitStack()
        self._known: dict[Path, str] = {}

    def of(self, folder: Path) -> str:
        """Return the path to use for a folder.

        Raises:
            OutputError: no link can be made.
        """
        place = folder.resolve()
        if _PLAIN.fullmatch(str(place)):
            return str(place)
        if place not in self._known:
            try:
                holder = self._links.enter_context(TemporaryDirectory(prefix="medsim-"))
                if not _PLAIN.fullmatch(holder):
                    raise OutputError(
                        f"{holder} has characters that DuckDB does not take as they are; set TMPDIR"
                    )
                link = Path(holder, "folder")
                link.symlink_to(place, target_is_directory=True)
            except OSError as error:
                raise OutputError(
                    f"{folder} is read by a link; none can be made ({error.strerror}): set TMPDIR"
                ) from error
            self._known[place] = str(link)
        return self._known[place]

    def close(self) -> None:
        """Remove the links."""
        self._links.close()
