"""The public face of medsim: the help of every command and the signature of every public name.

``help.json`` and ``signatures.json`` beside this file are the face of the version that wrote the
archives here. Run as a program, this file prints the face of the version that it finds:

    python tests/previous/face.py help
    python tests/previous/face.py signatures
"""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

import medsim
from medsim.cli import app

HELP = Path(__file__).with_name("help.json")
SIGNATURES = Path(__file__).with_name("signatures.json")
COLUMNS = 80


def help_texts() -> dict[str, str]:
    """Return the help of every command and group of commands, by its name behind ``medsim``."""
    runner = CliRunner(env={"COLUMNS": str(COLUMNS), "NO_COLOR": "1"})
    texts: dict[str, str] = {}
    unread: list[tuple[list[str], Any]] = [([], get_command(app))]
    while unread:
        name, command = unread.pop()
        asked = [*name, "--help"]
        one = runner.invoke(app, asked, prog_name="medsim", terminal_width=COLUMNS - 2)
        assert one.exit_code == 0, one.stderr
        texts[" ".join(name)] = one.stdout
        unread += [([*name, of], each) for of, each in getattr(command, "commands", {}).items()]
    return dict(sorted(texts.items()))


def signatures() -> dict[str, object]:
    """Return the signature of every public name, as it is written."""
    return {name: _described(getattr(medsim, name)) for name in dir(medsim)}


def _described(one: object) -> dict[str, object]:
    if not inspect.isclass(one):
        return {"type": "function", **_signature(one)}
    members: dict[str, object] = {}
    for owner in reversed(one.__mro__):
        if not owner.__module__.startswith("medsim"):
            continue
        for name, member in vars(owner).items():
            if name.startswith("_"):
                continue
            if isinstance(member, property):
                members[name] = {"type": "property", **_signature(member.fget)}
            elif isinstance(member, (classmethod, staticmethod)):
                members[name] = {"type": type(member).__name__, **_signature(member.__func__)}
            elif inspect.isfunction(member):
                members[name] = {"type": "method", **_signature(member)}
    return {"type": "class", **_signature(one), "members": dict(sorted(members.items()))}


def _signature(one: object) -> dict[str, object]:
    """Return parameters and return type; none of functions that are written in C."""
    assert callable(one)
    try:
        found = inspect.signature(one)
    except ValueError:
        return {"parameters": None, "returns": None}
    parameters = [
        {
            "name": each.name,
            "kind": each.kind.name.lower(),
            "default": None if each.default is each.empty else repr(each.default),
            "annotation": _written(each.annotation),
        }
        for each in found.parameters.values()
    ]
    return {"parameters": parameters, "returns": _written(found.return_annotation)}


def _written(annotation: object) -> str | None:
    if annotation is inspect.Signature.empty:
        return None
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def main() -> None:
    """Print the part of the face that is asked for."""
    made = {"help": help_texts, "signatures": signatures}[sys.argv[1]]()
    sys.stdout.write(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
