"""Finds the SQL files and reads their headers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path

from medsim.core.config import CROSS_LANGUAGE, PARENT_CHILD
from medsim.core.errors import check_known

_FIELD = re.compile(  # a field may continue on lines with more indentation
    r"^-- (reads|writes|params|cites|order|contains) +(.*(?:\n--  +\S.*)*)", re.MULTILINE
)
_PARAMETER = re.compile(r"^\$(\w+)")
_CALL = re.compile(r"\b([a-z_]\w*)\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One SQL file, with the names of the macros in ``sql/macros`` that it calls."""

    name: str
    text: str
    sentence: str
    header: dict[str, tuple[str, ...]]
    macros: frozenset[str]

    @property
    def parameters(self) -> set[str]:
        """The names of the parameters that the header declares, without the dollar sign."""
        return {name for line in self.header.get("params", ()) for name in _PARAMETER.findall(line)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset of positives, registered by the header of its SQL file.

    Attributes:
        name: name of the dataset and of its file.
        order: position in the order in which negatives are made.
        contains: datasets that it contains, so that it may repeat their negatives.
    """

    name: str
    order: int
    contains: frozenset[str]

    @property
    def query(self) -> str:
        """The name of the query that writes its candidate pairs."""
        return f"builds/datasets/{self.name}"


def sql_folder() -> Traversable:
    """Return the folder of SQL files: inside the installed package, else the checkout's."""
    packaged = files("medsim") / "_sql"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "sql"


def names(folder: str) -> list[str]:
    """Return the names of all queries in a folder such as "checks", in order."""
    files = (entry.name for entry in (sql_folder() / folder).iterdir())
    return sorted(f"{folder}/{name[:-4]}" for name in files if name.endswith(".sql"))


@cache
def query(name: str) -> Query:
    """Return the query named ``name``, such as "terminologies/rf2/concept"."""
    text = (sql_folder() / f"{name}.sql").read_text(encoding="utf-8")
    lines = (line.removeprefix("--").strip() for line in text.splitlines())
    sentence = " ".join(takewhile(bool, lines))
    macro_names = {macro.removeprefix("macros/") for macro in names("macros")}
    macros = frozenset(macro_names.intersection(_CALL.findall(text)))
    return Query(name=name, text=text, sentence=sentence, header=_header(text), macros=macros)


@cache
def datasets(n_languages: int = 2, *, hierarchy: bool = True) -> tuple[Dataset, ...]:
    """Return the datasets of builds in one or several languages, with or without parent_child.

    They are registered, and in the order in which their negatives are made.
    """
    registered = []
    for name in names("builds/datasets"):
        header = query(name).header
        contains = " ".join(header.get("contains", ())).replace(",", " ").split()
        order, dataset_name = int(header["order"][0]), name.rsplit("/", 1)[1]
        registered.append(Dataset(name=dataset_name, order=order, contains=frozenset(contains)))
    absent = {CROSS_LANGUAGE: n_languages == 1, PARENT_CHILD: not hierarchy}
    present = [each for each in registered if not absent.get(each.name)]
    return tuple(sorted(present, key=lambda dataset: dataset.order))


def dataset(name: str) -> Dataset:
    """Return one registered dataset."""
    by_name = {dataset.name: dataset for dataset in datasets()}
    check_known("dataset", by_name, name)
    return by_name[name]


def _header(text: str) -> dict[str, tuple[str, ...]]:
    """Return the fields of a header, which a blank line ends, each with its lines."""
    fields: dict[str, tuple[str, ...]] = {}
    for name, values in _FIELD.findall(text.partition("\n\n")[0]):
        fields[name] = (*fields.get(name, ()), *re.split(r"\n--  +", values))
    return fields
