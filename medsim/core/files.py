"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from medsim.core.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def whole_file(path: Path, partial: Path | None = None) -> Iterator[Path]:
    """Give the body a path to write to; when it ends well, the file is on the disk at ``path``.

    Whatever lay there is replaced; it stays where the body fails.

    Args:
        path: of the file.
        partial: where it is written, in the same folder; by default a name that no other process
            takes, so that two may write the same file.

    Raises:
        OutputError: the file cannot be written.
    """
    own = partial or path.with_name(f".{path.name}.{uuid4().hex}.partial")
    try:
        yield own
        with own.open("rb") as stream:
            os.fsync(stream.fileno())
        own.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            own.unlink(missing_ok=True)
