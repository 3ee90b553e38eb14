"""Errors that medsim raises are its own."""

from __future__ import annotations

import ast
from pathlib import Path

import medsim

MODULES = sorted(Path(medsim.__file__).parent.rglob("*.py"))


def test_nothing_is_asserted_as_python_may_leave_assertions_out() -> None:
    asserting = [
        f"{path}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert)
    ]

    assert len(MODULES) > 100
    assert not asserting


def test_the_tools_of_tests_stay_in_tests() -> None:
    names = ("polars.testing", "numpy.testing", "hypothesis", "pytest")
    importing = [
        f"{path}: {found}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for found in _imported(node)
        if found.startswith(names)
    ]

    assert not importing


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
