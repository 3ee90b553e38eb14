"""Registries of plug-ins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from medsim.core.errors import OptionError

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
        f"from medsim.core.registry import Registry\n\nREGISTRY = Registry('strategy', {name!r})\n"
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
