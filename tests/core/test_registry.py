"""Registries of plug-ins."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from medsim.core.errors import OptionError
from medsim.core.registry import RegisteredNames

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.registry import Registry

PLUG_IN = """
from {package} import REGISTRY

REGISTRY.register({name!r}, {name!r}.upper())
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a new package with a registry and the plug-ins random and exact."""
    name = f"package_of_{tmp_path.name}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from medsim.core.registry import Registry\n\n"
        f"REGISTRY = Registry('strategy', {name!r}, group={name!r}, entry_type=str)\n"
    )
    (folder / "first.py").write_text(PLUG_IN.format(package=name, name="random"))
    (folder / "second.py").write_text(PLUG_IN.format(package=name, name="exact"))
    monkeypatch.syspath_prepend(tmp_path)
    return name


def registry_of(package: str) -> Registry[str]:
    registry: Registry[str] = __import__(package).REGISTRY
    return registry


def test_plug_ins_are_registered_by_the_modules_of_the_package(package: str) -> None:
    registry = registry_of(package)
    registry.all().clear()  # a copy
    assert list(registry.all().items()) == [("exact", "EXACT"), ("random", "RANDOM")]
    assert registry.get("random") == "RANDOM"
    for name, end in (("randon", "did you mean random?"), ("zzz", "known: exact, random")):
        with pytest.raises(OptionError, match=rf"^unknown strategy '{name}'; {re.escape(end)}$"):
            registry.get(name)
    assert registry.register("third", "given back") == "given back"
    with pytest.raises(ValueError, match="two plug-ins of kind strategy are named 'third'"):
        registry.register("third", "again")


def test_failed_import_is_not_an_unknown_name(package: str, tmp_path: Path) -> None:
    (tmp_path / package / "third.py").write_text("import a_module_that_is_not_there\n")
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        registry_of(package).all()


def install(folder: Path, package: str, module: str, group: str, *points: str) -> None:
    """Write a module, and the facts of its package with its entry points."""
    (folder / f"{package}.py").write_text(module)
    facts = folder / f"{package}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("\n".join([f"[{group}]", *points, ""]))


def test_other_packages_add_plug_ins_by_entry_points(package: str, tmp_path: Path) -> None:
    install(tmp_path, "others", "NEAR, FAR = 'NEAR', 'FAR'", package, "near = others:NEAR")

    assert registry_of(package).get("near") == "NEAR"
    assert [*RegisteredNames(package, "REGISTRY")] == ["exact", "near", "random"]


@pytest.mark.parametrize(
    ("module", "point", "fault"),
    [
        (
            "1 / 0",
            "near = broken:X",
            r"broken:X cannot be loaded \(ZeroDivisionError: .* by zero\)",
        ),
        ("", "near = broken:X", r"broken:X cannot be loaded \(AttributeError: .*'X'\)"),
        ("", "near = nowhere:X", r"nowhere:X cannot be loaded \(ModuleNotFoundError: .*\)"),
        ("X = 1", "near = broken:X", "broken:X is of the class int, not str"),
        ("X = 'NEAR'", "exact = broken:X", "another strategy has this name"),
    ],
)
def test_a_broken_entry_point_is_an_error_that_names_its_package(
    package: str, tmp_path: Path, module: str, point: str, fault: str
) -> None:
    name = point.partition(" ")[0]
    install(tmp_path, "broken", module, package, point)
    sys.modules.pop("broken", None)
    message = (
        rf"^the package broken adds the strategy '{name}', but {fault}; update or uninstall it$"
    )
    for _ in range(2):
        with pytest.raises(OptionError, match=message):
            registry_of(package).all()


def test_two_packages_cannot_add_the_same_name(package: str, tmp_path: Path) -> None:
    install(tmp_path, "first_of_two", "X = 'NEAR'", package, "near = first_of_two:X")
    install(tmp_path, "second_of_two", "X = 'NEAR'", package, "near = second_of_two:X")

    with pytest.raises(OptionError, match=r"of_two adds the strategy 'near', but another"):
        registry_of(package).all()
