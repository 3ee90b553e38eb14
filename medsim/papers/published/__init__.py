"""The papers whose tables are computed, one module each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medsim.builds.build import is_output
from medsim.core.errors import OptionError, listed
from medsim.core.files import digest_of
from medsim.core.registry import Registry
from medsim.evaluations.layouts import parse_rated
from medsim.terminologies.sources.rf2 import latest_date

if TYPE_CHECKING:
    from medsim.papers.options import ReproduceOptions
    from medsim.papers.printed import Cells

Facts = dict[str, dict[str, object]]
"""Facts about terminologies, other inputs or models by their name, as in manifests."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The cells of a table that were computed.

    Attributes:
        cells: their texts, with the labels of the paper where it has them.
        missing: why cells are missing, or a function that says so for a row and a column; empty
            if it depends on nothing that was given, see ``PrintedTable``.
        other: what the cells are of, if their numbers cannot be compared with the paper's, such as
            "another terminology".
    """

    cells: Cells = field(default_factory=dict)
    missing: str | Callable[[str, str], str] = ""
    other: str = ""


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


def name_and_date(source: Mapping[str, Any], as_of: object = None) -> str:
    """Return the name of a terminology with the dates of its release and of its selected state."""
    files = (file["name"] for file in source["files"])
    date = latest_date(files) if as_of else source["release_date"]  # that of the state
    of = f"{source['name']} of {date}" if date else f"{source['name']}, without a date"
    return f"{of}, as of {as_of}" if as_of else of


def check_earlier(options: ReproduceOptions, out: Path) -> None:
    """Record the inputs of a run in ``out``; raise OptionError if an earlier run had others.

    A run may have more, since finished steps are used again.
    """
    paths = [parse_rated(path)[0] for path in options.input_paths]
    files = files_of("input", *paths, options.terminology)
    given = {"seed": str(options.seed), **dict.fromkeys(options.models, "")}
    given |= {name: str(about["fingerprint"]) for name, about in files.items()}
    record = out / "inputs.json"
    is_used = record.is_file() and any(is_output(folder) for folder in out.iterdir())
    earlier = json.loads(record.read_text("utf-8")) if is_used else {}
    if other := [name for name, digest in earlier.items() if given.get(name) != digest]:
        which = listed(other, most=3)
        raise OptionError(f"{out} was made with {which}; give these, or name another `out`")
    out.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(given), "utf-8")


def files_of(kind: str, *paths: str | Path | None) -> Facts:
    """Return the facts about files and folders that no evaluation reads, by name.

    The name of a folder ends in a slash, since it may be that of a rated file.
    """
    facts: Facts = {}
    for path in (Path(path) for path in paths if path is not None):
        files = [file for file in sorted(path.rglob("*")) if file.is_file()] or [path]
        digests = [digest_of(file) for file in files if file.is_file()] or [""]
        if path.is_dir():
            digests = [sha256("".join(digests).encode()).hexdigest()]
        name = f"{path.name}/" if path.is_dir() else path.name
        facts[name] = {"kind": kind, "path": str(path), "fingerprint": digests[0]}
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
