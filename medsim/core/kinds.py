"""Kinds of output: the room that makes a kind declares it once, and all else asks the declaration.

The declaration is a ``Kind``, such as ``medsim.evaluations.output.EVALUATION``, and the class that
opens an output of the kind has it. One line in ``medsim.core.opened`` lets every command find it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from medsim.core.errors import InputError
from medsim.core.manifest import MANIFEST, Manifest, Output

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from medsim.core.schema import Columns

M = TypeVar("M", bound=Manifest)


@dataclass(frozen=True, slots=True)
class View:
    """A table of an output, as SQL statements see it.

    Attributes:
        files: pattern of the files that hold it, below the output's folder.
        columns: the first columns of each file; None where they depend on what was asked for.
        optional: whether outputs of the kind may lack it.
    """

    files: str
    columns: Columns | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[M]):
    """The declaration of a kind of output.

    Attributes:
        noun: by which sentences name it, without an article.
        command: that makes it.
        manifest: the class of its manifests.
        views: its tables by name.
        resumed_by: the folder that takes long to fill, for which an interrupted run is resumed;
            None where every run starts afresh.
        grows: whether a finished output may be added to.
    """

    noun: str
    command: str
    manifest: type[M]
    views: Mapping[str, View]
    resumed_by: str | None = None
    grows: bool = False

    @property
    def name(self) -> str:
        """The name by which manifests call the kind."""
        return self.manifest.kind

    @property
    def with_article(self) -> str:
        """The noun with its article."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    def views_in(self, folder: Path) -> dict[str, str]:
        """Return the patterns of files by view, without optional views that have no file."""
        return {
            name: view.files
            for name, view in self.views.items()
            if not view.optional or next(folder.glob(view.files), None) is not None
        }


def read_manifest(folder: Path, kind: Kind[M]) -> M:
    """Return the manifest of a finished output.

    Raises:
        InputError: there is none, it is of another kind, or it is not medsim's.
    """
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        name = found.pop("kind", kind.name)
        if name != kind.name:
            raise InputError(
                f"{path} is a manifest of kind {name!r}, not of {kind.with_article}, as "
                f"{kind.command} writes it"
            )
        outputs = {name: Output(**output) for name, output in found.pop("outputs").items()}
        return kind.manifest(**found, outputs=outputs)
    except FileNotFoundError as error:
        raise InputError(
            f"{folder} has no {MANIFEST}: it is no finished {kind.noun}; make one with "
            f"{kind.command}"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} cannot be read as a manifest of medsim ({error})") from error
