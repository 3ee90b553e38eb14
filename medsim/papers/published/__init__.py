"""The papers whose tables are computed, one module each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medsim.core.errors import OptionError, listed
from medsim.core.files import digest_of
from medsim.core.manifest import MANIFEST
from medsim.core.registry import Registry
from medsim.evaluations.layouts import parse_rated
from medsim.evaluations.output import Evaluation

if TYPE_CHECKING:
    from medsim.core.opened import Opened
    from medsim.papers.options import ReproduceOptions
    from medsim.papers.printed import Cells

Facts = dict[str, dict[str, object]]
"""Facts about terminologies, other inputs or models by their name, as in manifests."""


NOT_COMPUTED = "this command does not compute it"
"""Why a table or a row of the paper is missing."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The cells of a table that were computed.

    Attributes:
        cells: their texts, with the labels of the paper where it has them.
        missing: why cells are missing, or a function that says so for a row and a column.
        other: what the cells are of, if their numbers cannot be compared with the paper's, such as
            "another terminology".
    """

    cells: Cells = field(default_factory=dict)
    missing: str | Callable[[str, str], str] = ""
    other: str = ""

    def why(self, row: str, column: str) -> str:
        """Return why a cell is missing."""
        return self.missing if isinstance(self.missing, str) else self.missing(row, column)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """What was computed for a paper.

    Attributes:
        tables: the computed tables, by name.
        sources: the facts about the terminologies.
        inputs: the facts about the builds, files, corpora and models.
        remarks: what the inputs are and what differs from the paper, by subject.
    """

    tables: Mapping[str, Computed]
    sources: Facts = field(default_factory=dict)
    inputs: Facts
    remarks: Mapping[str, str] = field(default_factory=dict)


def name_and_date(source: Mapping[str, object]) -> str:
    """Return the name of a terminology with its date, if it has one."""
    name, date = source["name"], source["release_date"]
    return f"{name} of {date}" if date else f"{name}, without a date"


def check_seed(made: Opened[Any], options: ReproduceOptions) -> None:
    """Raise OptionError if an earlier run made an output with another seed."""
    if (seed := made.manifest.options["seed"]) != options.seed:
        raise OptionError(f"{made.folder} has `seed` {seed}; give it again, or name another `out`")


def check_results(folder: Path, inputs: Sequence[str | Path], options: ReproduceOptions) -> None:
    """Raise OptionError if an earlier evaluation has inputs or options that are not given."""
    if not (folder / MANIFEST).is_file():
        return
    check_seed(made := Evaluation(folder), options)
    earlier = made.manifest
    given = {*options.models, *(parse_rated(str(path))[0].resolve() for path in inputs)}
    other = [name for name in earlier.embeddings if name not in given]
    paths = (str(about["path"]) for about in earlier.inputs.values())
    other += [path for path in paths if Path(path).resolve() not in given]
    if other:
        which = listed(other, most=3)
        raise OptionError(f"{folder} has scores of {which}; give these too, or name another `out`")


def files_of(*paths: str | Path | None) -> Facts:
    """Return the facts about files and folders that no evaluation reads, by name.

    The name of a folder ends in a slash, since it may be that of a rated file.
    """
    facts: Facts = {}
    for path in (Path(path) for path in paths if path is not None):
        files = [file for file in sorted(path.rglob("*")) if file.is_file()] or [path]
        digests = [digest_of(file) for file in files if file.is_file()]
        if path.is_dir():
            digests = [sha256("".join(digests).encode()).hexdigest()]
        name = f"{path.name}/" if path.is_dir() else path.name
        facts[name] = {"path": str(path), "fingerprint": digests[0]}
    return facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """How the tables of a paper are computed.

    Attributes:
        citation: how to cite the paper.
        computed: computes the tables in a folder.
    """

    citation: str
    computed: Callable[[ReproduceOptions, Path], Reproduced]


PAPERS: Registry[Paper] = Registry("paper", "medsim.papers.published")
"""The papers, by the names of their files with printed numbers."""
