"""Earlier outputs, which are moved aside while the new one is put in their place."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from medsim.core.files import remove, sync_tree
from medsim.core.manifest import kind_of

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.kinds import Kind

_EARLIER = "earlier"
_MARK = "set-aside-by-medsim"


def name_aside(out: Path) -> Path:
    """Return a new name for the folder into which an earlier output is moved."""
    return out.with_name(f".{out.name}.{uuid4().hex[:8]}.replaced")


def set_aside(out: Path) -> None:
    """Move an output into a new folder beside it, which is known by its mark."""
    folder = name_aside(out)
    folder.mkdir()
    (folder / _MARK).touch()
    sync_tree(folder)
    out.rename(folder / _EARLIER)


def put_back(out: Path, kind: Kind[Any]) -> None:
    """Undo a publishing that was interrupted between its two renames."""
    earlier = [folder / _EARLIER for folder in _all_set_aside(out)]
    for folder in earlier:
        if folder.is_dir() and (not out.exists() or (out.is_dir() and not any(out.iterdir()))):
            folder.rename(out)
    remove_set_aside(out, kind)


def remove_set_aside(out: Path, kind: Kind[Any]) -> None:
    """Remove the earlier outputs that are replaced: those in whose place there is a newer one.

    Empty folders go too: a run was killed before it made the mark, or after it removed it.
    """
    for folder in _named_aside(out):
        with suppress(OSError):
            folder.rmdir()
    for folder in _all_set_aside(out):
        if kind_of(out) == kind.name or not (folder / _EARLIER).exists():
            with suppress(OSError):
                if (folder / _EARLIER).exists():
                    remove(folder / _EARLIER)  # before the mark, by which the folder is known
                (folder / _MARK).unlink()
                folder.rmdir()  # a file that somebody put there stays


def _all_set_aside(out: Path) -> list[Path]:
    """Return the folders beside an output into which medsim moved earlier ones, newest first."""
    with suppress(OSError):
        own = [one for one in _named_aside(out) if (one / _MARK).is_file()]
        return sorted(own, key=lambda one: one.stat().st_mtime_ns, reverse=True)
    return []


def _named_aside(out: Path) -> list[Path]:
    """Return the folders beside an output that are named as ``name_aside`` does."""
    name = re.compile(rf"\.{re.escape(out.name)}\.[0-9a-f]{{8}}\.replaced")
    with suppress(OSError):  # a folder may take files and not be listed
        found = (path for path in out.parent.iterdir() if name.fullmatch(path.name))
        return [path for path in found if not path.is_symlink()]
    return []
