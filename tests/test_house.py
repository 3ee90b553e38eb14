"""The package stays plain: no import circles, one meaning per name, no very long modules."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from fixtures.commands import commands

from medsim.core.console import _with_flags

PACKAGE = Path(__file__).parents[1] / "medsim"
MOST_LINES, MOST_LINES_OF_A_FUNCTION, MOST_PARAMETERS = 650, 60, 7
REGISTERED = {"FORMAT", "NAME", "computed", "recognises", "steps"}
"""The names that modules of a registry have in common."""

KNOW_FLAGS = ("cli/", "core/console", "core/printing", "decisions/__init__", "options", "commands")
"""The modules that may write options with dashes."""

CHANGE_CASE = (
    "core/terms.py",
    *("embeddings/replies.py", "questions/answers.py"),  # yes and no, letters of choices
    "embeddings/tokens.py",  # a spelling that users ask for
    "studies/options.py",  # names of people
    *("pages/markup.py", "pages/page.py"),  # words of the glossary
    *("studies/asking.py", "terminologies/sources/loinc.py"),  # labels and states
    *("terminologies/synthetic/__init__.py", "terminologies/synthetic/concepts.py"),  # invented
)
"""The modules that may change the case of texts other than users' terms, and of which."""


@cache
def modules() -> dict[str, ast.Module]:
    """Return the modules of the package by their path."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Return every node of the package with the path of its module."""
    return [(path, node) for path, tree in modules().items() for node in ast.walk(tree)]


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every function and method with its place."""
    for path, node in nodes():
        if isinstance(node, ast.FunctionDef):
            yield f"{path}: {node.name}", node


def test_no_modules_import_each_other_in_a_circle() -> None:
    import grimp

    graph = grimp.build_graph("medsim", exclude_type_checking_imports=False)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}

    TopologicalSorter(imports).prepare()  # raises an error that names a cycle

    assert len(imports) > 100


def test_a_public_name_has_one_meaning() -> None:
    modules_of = defaultdict(set)
    for path, tree in modules().items():
        for statement in tree.body:
            for name in _public_names(statement):
                modules_of[name].add(path)
    shared = {name: sorted(paths) for name, paths in modules_of.items() if len(paths) > 1}

    assert len(modules_of) > 1000
    assert shared == {}  # name it after what it is; a name of one module alone begins with "_"


def _public_names(statement: ast.stmt) -> list[str]:
    """Return the public names that a statement of a module defines, and may define alone.

    A command may share the name of its function, and modules of a registry have `REGISTERED`.
    """
    names: list[str] = []
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        decorators = [ast.unparse(each) for each in statement.decorator_list]
        names = [] if any("command(" in each for each in decorators) else [statement.name]
    elif isinstance(statement, ast.AnnAssign):
        names = _targets(statement.target)
    elif isinstance(statement, ast.Assign):
        variable = ast.unparse(statement.value).startswith(("TypeVar(", "ParamSpec("))
        names = (
            [] if variable else [name for target in statement.targets for name in _targets(target)]
        )
    return [name for name in names if not name.startswith("_") and name not in REGISTERED]


def _targets(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def test_modules_are_short() -> None:
    lines = {path: (PACKAGE / path).read_text(encoding="utf-8").count("\n") for path in modules()}
    assert {path: n for path, n in lines.items() if n > MOST_LINES} == {}


def test_functions_are_short_and_take_few_parameters() -> None:
    lines = {place: (node.end_lineno or 0) - node.lineno + 1 for place, node in functions()}
    assert {place: n for place, n in lines.items() if n > MOST_LINES_OF_A_FUNCTION} == {}

    names_of = {
        place: [
            argument.arg
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            if argument.arg not in {"self", "cls"}
        ]
        for place, node in functions()
    }
    assert {place: names for place, names in names_of.items() if len(names) > MOST_PARAMETERS} == {}


def test_messages_leave_the_dashes_of_options_to_the_command_line() -> None:
    flags = [
        f"{path}: {node.value}"
        for path, call in nodes()
        if isinstance(call, ast.Call) and not any(part in path for part in KNOW_FLAGS)
        for argument in call.args
        for node in ast.walk(argument)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if "--" in node.value
        and re.search(
            r"(?<!medsim)(?<!\w)--[a-z]", re.sub(r"medsim [a-z ]+--[a-z].*", "", node.value)
        )
    ]
    assert flags == []


def test_a_name_between_backticks_is_an_option() -> None:
    known = {parameter.name for command in commands().values() for parameter in command.params}
    documenting = {id(node.value) for _, node in nodes() if isinstance(node, ast.Expr)}
    named = [
        (node.value, name)
        for _, node in nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in documenting
        for name in re.findall(r"`(\w+)`", node.value)
    ]

    assert len(named) > 50
    assert {name for _, name in named} <= known
    assert all(f"`{name}`" not in _with_flags(text, {name: "--flag"}) for text, name in named)


def test_only_core_terms_changes_the_case_of_terms() -> None:
    methods = {"lower", "upper", "casefold", "to_lowercase", "to_uppercase"}
    terms = re.compile(r"\W*(terms?|words?|quer(y|ies)|mentions?|synonyms?)\b")
    changing = {
        path
        for path, node in nodes()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in methods
        if node.func.attr not in {"lower", "upper"} or terms.match(ast.unparse(node.func.value))
    }
    statements = [
        f"{path.name}: {call}"
        for path in (PACKAGE.parent / "sql").rglob("*.sql")
        for call in re.findall(
            r"(?:lower|upper)\((?:\w\.)?(?:term|name)\b", path.read_text("utf-8")
        )
    ]

    assert changing - {*CHANGE_CASE} == set()
    assert statements == ["unlike.sql: lower(g.term"]  # for a warning, on which no row depends


def test_the_package_has_no_assert_statements() -> None:
    asserting = [f"{path}:{node.lineno}" for path, node in nodes() if isinstance(node, ast.Assert)]

    assert len(modules()) > 100
    assert asserting == []


def test_the_package_does_not_import_test_tools() -> None:
    names = ("polars.testing", "numpy.testing", "hypothesis", "pytest")
    importing = [
        f"{path}: {imported}"
        for path, node in nodes()
        for imported in _imported(node)
        if imported.startswith(names)
    ]

    assert importing == []


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
