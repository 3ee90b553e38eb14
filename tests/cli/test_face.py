"""The commands and functions differ from those of the version before as face_changes.py lists.

Where a change is meant, name it in the CHANGELOG and write the list anew:

    python tests/cli/test_face.py >list && mv list tests/cli/face_changes.py
"""

from __future__ import annotations

import json
import pprint
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from previous.face import HELP, SIGNATURES, help_texts, signatures

Face = dict[str, str]
"""What each option or parameter takes, by the command or function and its own name."""

_HEAD = '''"""The options and parameters that changed since the version before: then, and now."""

from __future__ import annotations

'''


def face_of_commands(texts: dict[str, str]) -> Face:
    """Return type, default and necessity of every option, as help texts have them."""
    face: Face = {}
    for command, text in texts.items():
        face[f"medsim {command}"] = "command"
        _, *sections = re.split(r"(?m)^(?:Arguments|Options):\n", text)
        entries = "\n".join(section.partition("\n\n")[0] for section in sections)
        for entry in re.findall(r"(?m)^  \S.*(?:\n {3,}.*)*", entries):
            head = re.split(r" {2,}|\n", entry.strip(), maxsplit=1)[0].split(", ")[-1]
            name, *takes = re.sub(r"<[\w|]+>", _in_order, head).split()
            if not name.startswith("--"):
                name = name.strip("[]").upper()
            says = " ".join(entry.split())
            if default := re.search(r"\[default: (.*?)\]", says):
                takes += ["=", default[1]]
            if "[required]" in says:
                takes += ["required"]
            face[f"medsim {command} {name}"] = " ".join(takes)
    return face


def face_of_functions(found: dict[str, Any]) -> Face:
    """Return annotation and default of every parameter, and what is given back."""
    face: Face = {}
    for name, one in found.items():
        callables = {name: one, **{f"{name}.{k}": v for k, v in one.get("members", {}).items()}}
        for path, each in callables.items():
            face[path] = _bare(each["returns"])
            for parameter in each["parameters"] or ():
                if parameter["name"] != "self":
                    default = parameter["default"]
                    says = _bare(parameter["annotation"]) + (f" = {default}" if default else "")
                    face[f"{path}({parameter['name']})"] = says
    return face


def _in_order(choices: re.Match[str]) -> str:
    """Return choices such as "<csv|json>" whose order does not matter."""
    return f"<{'|'.join(sorted(choices[0].strip('<>').split('|')))}>"


def _bare(annotation: str | None) -> str:
    """Return an annotation without the modules that its names come from; names are texts."""
    bare = re.sub(r"\b(?:[a-z_]\w*\.)+(?=\w)", "", annotation or "")
    bare = re.sub(r"Literal\[[^\]]*\]", "str", bare)
    return re.sub(r"Optional\[(.*?)\]", r"\1 | None", bare)


def changes() -> dict[str, tuple[str | None, str | None]]:
    """Return what was and what is, of all that is not the same."""
    before = face_of_commands(json.loads(HELP.read_text(encoding="utf-8")))
    before |= face_of_functions(json.loads(SIGNATURES.read_text(encoding="utf-8")))
    now = face_of_commands(help_texts()) | face_of_functions(signatures())
    return {
        name: (before.get(name), now.get(name))
        for name in sorted(before | now)
        if before.get(name) != now.get(name)
    }


def test_what_changed_is_listed() -> None:
    from face_changes import CHANGES

    assert changes() == CHANGES


def test_what_changed_is_named_in_the_changelog() -> None:
    from face_changes import CHANGES

    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    options = " ".join(re.findall(r"(?s)### Options\n(.*?)(?=\n\*\*|\n#|\Z)", changelog))
    named = set(re.findall(r"[a-z][a-z-]*", options.lower().replace("_", "-")))
    for change in CHANGES:
        name = re.split(r"[ (.]", change.removesuffix(")").removesuffix("..."))[-1]
        assert name.removeprefix("--").replace("_", "-").lower() in named, change


if __name__ == "__main__":
    listed = pprint.pformat(changes(), width=96)
    sys.stdout.write(f"{_HEAD}CHANGES: dict[str, tuple[str | None, str | None]] = {listed}\n")
