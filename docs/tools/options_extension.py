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
"""Module prefixes of the names of types, which readers do not need."""


class DeclaredOptions(griffe.Extension):
    """Replaces signatures in the source by those that the decorator ``public`` makes."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Use the parameters and the docstring of the imported function, if it has options."""
        if not any(str(decorator.value).startswith("public(") for decorator in func.decorators):
            return
        live = getattr(importlib.import_module(func.module.path), func.name)
        func.parameters = griffe.Parameters(
            *(_parameter(item) for item in inspect.signature(live).parameters.values())
        )
        text = inspect.getdoc(live) or ""
        func.docstring = griffe.Docstring(text, parent=func, parser="google")

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Make ``open`` an alias of ``open_build``."""
        pkg.set_member("open", griffe.Alias("open", "medsim.builds.output.open_build", parent=pkg))


def _parameter(parameter: inspect.Parameter) -> griffe.Parameter:
    kind = {
        inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
        inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
    }[parameter.kind]
    required = parameter.default is inspect.Parameter.empty
    return griffe.Parameter(
        parameter.name,
        annotation=_plain(parameter.annotation),
        kind=kind,
        default=None if required else repr(parameter.default),
    )


def _plain(annotation: object) -> str:
    return MODULES.sub("", inspect.formatannotation(annotation))
