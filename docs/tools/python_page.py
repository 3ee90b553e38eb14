"""The public names of the package: the page on them, and their list for type checkers."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from typer.main import get_command

from docs.tools.markdown import page
from medsim.cli import app

PACKAGE = Path(__file__).parents[2] / "medsim"
NAMES = PACKAGE / "__init__.pyi"

_OPEN = "from medsim.builds.output import open_build as open_build"
_OTHER_HEADINGS = {"embeddings": "Models", "questions": "Models"}
"""The headings of packages without commands; by default, the last one."""


def public_names() -> str:
    """Return the list of public names, with every ``public`` function of the package.

    Classes stay as they are listed.
    """
    head, _, rest = NAMES.read_text(encoding="utf-8").partition("from ")
    imports, tail = f"from {rest}".split("\n\n", 1)
    kept = [line for line in imports.splitlines() if not line.split()[-1].islower()]
    return head + "\n".join(sorted([*kept, _OPEN, *_functions()])) + "\n\n" + tail


def _functions() -> list[str]:
    """Return the line of each function with the decorator ``public``."""
    lines = []
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if "@public(" in text else ():
            if isinstance(node, ast.FunctionDef) and any(map(_is_public, node.decorator_list)):
                module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
                lines.append(f"from {module} import {node.name} as {node.name}")
    return lines


def _is_public(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "public"


def python_page() -> dict[str, str]:
    """Return the page on public names by its path, under the headings of ``medsim --help``."""
    root: Any = get_command(app)
    headings = {
        package: title
        for title, panel in reversed(root.panels.items())
        for package in panel.values()
        if package != "cli"
    }
    sections: dict[str, list[str]] = {title: [] for title in (*root.panels, "Everywhere")}
    for line in public_names().splitlines():
        if line.startswith("from "):
            _, module, *_, name = line.split()
            package = module.split(".")[1]
            title = headings.get(package) or _OTHER_HEADINGS.get(package, "Everywhere")
            sections[title].append("open" if name == "open_build" else name)
    return {"python.md": page("python", sections=sections)}
