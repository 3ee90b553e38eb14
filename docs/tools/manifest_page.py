"""The page of the manifests of all kinds of output, from their declarations."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, fields
from datetime import date
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_origin, get_type_hints

from docs.tools.command_pages import all_commands
from docs.tools.markdown import code, escaped, page
from docs.tools.table_pages import COMMANDS_OF_SCALES, TITLES, kinds
from medsim.core.manifest import Manifest, Output, RunManifest, Skipped
from medsim.core.options import declared, union_members
from medsim.core.progress import StageRecord
from medsim.terminologies.sources import SourceFile, Terminology

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from medsim.core.kinds import Kind

PARTS: Mapping[str, type] = {
    "outputs": Output,
    "skipped": Skipped,
    "stages": StageRecord,
    "source": Terminology,
    "terminology": Terminology,
    "files": SourceFile,
}
"""The classes of the parts of manifests, by field."""

_HEADINGS: Mapping[type, str] = {
    Output: "A file of outputs",
    Skipped: "An entry of skipped",
    StageRecord: "A stage",
    Terminology: "A terminology",
    SourceFile: "A file of a terminology",
}
_NOUNS: Mapping[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    NoneType: "null",
}
_UNKNOWN = {"date": date, "Skipped": Skipped}
"""Names of types that modules import only for type checkers."""

_SECTION = re.compile(r"^(\w+): (.*(?:\n[ ]{4,}.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of JSON on the page; its meaning is Markdown."""

    name: str
    type: str
    meaning: str


def manifest_pages() -> dict[str, str]:
    """Return the pages of manifests by their paths below the reference."""
    known = kinds()
    of_kinds = {
        TITLES[name]: (
            known[name],
            list(_fields(known[name].manifest, besides=RunManifest)),
            _options(known[name]),
        )
        for name in TITLES
    }
    common = page(
        "manifest",
        common=_common(),
        run=list(_fields(RunManifest, besides=Manifest)),
        without_run=[
            title
            for title, (kind, *_) in of_kinds.items()
            if not issubclass(kind.manifest, RunManifest)
        ],
        parts={title: list(_fields(part)) for part, title in _HEADINGS.items()},
    )
    return {"manifest.md": common, "manifest-kinds.md": page("manifest_kinds", kinds=of_kinds)}


def _common() -> list[Field]:
    kind = Field(name="kind", type="text", meaning=escaped("Name of the kind of output."))
    return [kind, *_fields(Manifest)]


def _fields(declared_class: type, besides: type | None = None) -> Iterator[Field]:
    """Yield the fields of a class, without those of a class that it extends."""
    hints, notes = get_type_hints(declared_class, localns=_UNKNOWN), attributes_of(declared_class)
    known = {field.name for field in fields(besides)} if besides else set()  # type: ignore[arg-type]
    for field in fields(declared_class):
        hint = hints[field.name]
        left_out = declared_class is Terminology and field.name in {"skipped", "warnings"}
        if field.name not in known and get_origin(hint) is not ClassVar and not left_out:
            yield Field(
                name=field.name,
                type=_type(declared_class, field.name, json_type(hint)),
                meaning=_meaning(notes[field.name]),
            )


def _meaning(note: str) -> str:
    """Return a note on a field as Markdown."""
    return escaped(note[0].upper() + re.sub(r"\bNone\b", "null", note[1:]))


def _type(declared_class: type, name: str, noun: str) -> str:
    """Return the type of a field, with a link to the description of its parts."""
    part = PARTS.get(name)
    if part is None or not (
        declared_class in _HEADINGS or issubclass(declared_class, RunManifest) or name == "outputs"
    ):
        return noun
    anchor = _HEADINGS[part].lower().replace(" ", "-")
    return f"[{noun}](manifest.md#{anchor})"


def attributes_of(declared_class: type) -> dict[str, str]:
    """Return the notes on attributes in the docstrings of a class and its base classes."""
    notes: dict[str, str] = {}
    for ancestor in reversed(declared_class.__mro__):
        _, _, section = inspect.cleandoc(ancestor.__doc__ or "").partition("\nAttributes:\n")
        text = inspect.cleandoc(section.partition("\n\n")[0])
        notes |= {name: " ".join(note.split()) for name, note in _SECTION.findall(text)}
    return notes


def json_type(hint: Any) -> str:
    """Return the name of a type in JSON."""
    members = union_members(hint)
    if len(members) > 1:
        return " or ".join(map(json_type, members))
    kind, held = get_origin(hint) or hint, get_args(hint)
    if kind is dict:
        return "object" if held[1] in {object, Any} else f"{json_type(held[1])}s by name"
    if kind in (list, tuple):
        return f"list of {json_type(held[0])}s"
    return _NOUNS.get(kind, "text" if kind is date else "object")


def _made_by(kind: Kind[Any]) -> list[str]:
    """Return the commands that make outputs of a kind."""
    if kind.name == "study":
        return list(COMMANDS_OF_SCALES.values())
    return [kind.command.removeprefix("medsim ")]


def _options(kind: Kind[Any]) -> dict[str, list[str]]:
    """Return the keys of options by command, with the options' names if they differ."""
    known = all_commands()
    keys: dict[str, list[str]] = {}
    listed: set[str] = set()
    for name in _made_by(kind):
        for field, option in declared(known[name].callback.options).items():
            if option.key is not None and option.key not in listed:
                listed.add(option.key)
                other = "" if option.key == field else f" (the option {code(field)})"
                keys.setdefault(name, []).append(code(option.key) + other)
    return keys
