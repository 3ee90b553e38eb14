"""Names systems without vectors, and declares the option for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from medsim.core.data import toml_of
from medsim.core.errors import OptionError, check_known
from medsim.core.options import main_option
from medsim.core.reading import expanded
from medsim.embeddings.options import OBJECT, check_name, parse_named, place_of, type_name

ROLES: Mapping[str, str] = toml_of(__package__, "columns.toml")["roles"]
"""The usual names of columns, by what they contain."""

_EXAMPLE = "ranker=predictions.csv"
_N_OF_PAIR = 2

SystemLike: TypeAlias = str | Path | Any
"""A system: a file of predictions, optionally with the names of columns, as on the command line; a
frame of Polars or pandas; an object with a method ``predict``; or a function."""

Form: TypeAlias = Literal["file", "frame", "predict", "pair", "function"]
"""The form of a system: a file or a frame of predictions, an object with ``predict``, a function of
two texts, or one of one argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A system without vectors.

    Attributes:
        name: its name in results.
        source: path of a file, a frame, an object or a function.
        columns: names of the columns of a table that the user gave, by role.
        form: see ``Form``.
    """

    name: str
    source: Any
    columns: Mapping[str, str]
    form: Form

    @property
    def has_table(self) -> bool:
        """Whether its predictions are in a table."""
        return self.form in {"file", "frame"}

    @property
    def scores_pairs(self) -> bool:
        """Whether it can only score pairs of texts."""
        return self.form in {"predict", "pair"}

    @property
    def location(self) -> str:
        """The system in a few words, for manifests and messages."""
        if self.form == "file":
            return str(self.source)
        return place_of(self.source, is_function=self.form in {"pair", "function"})

    def provenance(self, digest: str) -> dict[str, object]:
        """Return the place, format, fingerprint and columns of its predictions, for manifests."""
        form = "predictions" if self.form == "file" else OBJECT
        facts = {"path": self.location, "format": form, "fingerprint": digest}
        return facts | {"options": dict(self.columns)}


def system_of(given: SystemLike, name: str) -> System:
    """Return the system that a caller gives.

    Raises:
        OptionError: it has an unsupported type, or names an unknown column.
    """
    check_name(name, f"system {name!r}")
    if isinstance(given, (str, Path)):
        _, path, columns = parse_named(f"{name}={given}", "`predictions`", _EXAMPLE)
        check_known("column of predictions", ROLES, *columns)
        return System(name=name, source=expanded(path), columns=columns, form="file")
    return System(name=name, source=given, columns={}, form=_form_of(given))


def _form_of(given: Any) -> Form:
    if hasattr(given, "columns") and hasattr(given, "shape"):
        return "frame"
    if callable(getattr(given, "predict", None)):
        return "predict"
    if callable(given) and not isinstance(given, type):
        return "pair" if _n_needed(given) == _N_OF_PAIR else "function"
    raise OptionError(
        f"{type_name(given)} is not a system; accepted: paths and frames of predictions, objects "
        "with a method predict, and functions"
    )


def _n_needed(function: Callable[..., object]) -> int:
    """Return the number of positional arguments without a default; 1 if it is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of functions in C
        return 1
    positional = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return sum(each.kind in positional and each.default is each.empty for each in parameters)


def systems_of(given: Mapping[str, SystemLike] | None) -> list[System]:
    """Return the systems that a caller gives, by name."""
    return [system_of(source, name) for name, source in (given or {}).items()]


def _checked(given: Mapping[str, SystemLike], where: str) -> Mapping[str, SystemLike]:
    for name, source in given.items():
        try:
            system_of(source, name)
        except OptionError as error:
            raise OptionError(f"{where} {name!r}: {error}") from error
    return given


PREDICTIONS_OPTION = main_option(
    "Predictions of a system without vectors, as a table; repeatable. eval takes term1, term2 and "
    "similarity, or id and answer; link a mention_id or text, and concept; map a code and concept. "
    "Other names of columns follow the path: ranker=out.csv,concept=TARGET. In Python also a "
    "frame, an object with a method predict, or a function.",
    ("--predictions",),
    metavar="NAME=PATH",
    read=_checked,
)
"""The option by which commands name systems without vectors."""
