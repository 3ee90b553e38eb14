"""Reads the data that packages have in TOML files beside their modules."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def toml_of(package: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file in the folder of a package."""
    return tomllib.loads((files(package) / name).read_text(encoding="utf-8"))
