"""Griffe extension: functions of options have the signature and docstring that Python sees."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

MODULES = re.compile(
    r"\b(?:medsim|collections|typing|pathlib|datetime)(?:\.[a-z_]+)*\.(?=[A-Z]|date)"
)
"""The modules before the names of types, which a reader does not need."""


class DeclaredOptions(griffe.Extension):
    """Replaces what is in the source by what the decorator ``public`` makes of it."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Take the parameters and the docstring of the function itself, where it has options."""
        if not any(str(one.value).startswith("public(") for one in func.decorators):
            return
        live = getattr(importlib.import_module(func.module.path), func.name)
        func.parameters = griffe.Parameters(
            *(_parameter(one) for one in inspect.signature(live).parameters.values())
        )
        text = inspect.getdoc(live) or ""
        func.docstring = griffe.Docstring(text, parent=func, parser="google")

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Take ``open`` for the function that it is another name of."""
        pkg.set_member("open", griffe.Alias("open", "medsim.builds.output.open_build", parent=pkg))


def _parameter(one: inspect.Parameter) -> griffe.Parameter:
    kind = {
        inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
        inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
    }[one.kind]
    required = one.default is inspect.Parameter.empty
    return griffe.Parameter(
        one.name,
        annotation=_plain(one.annotation),
        kind=kind,
        default=None if required else repr(one.default),
    )


def _plain(annotation: object) -> str:
    return MODULES.sub("", inspect.formatannotation(annotation))
