"""Named plug-ins: registered once, found by name, with suggestions for misspelt names."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from medsim.core.errors import OptionError, check_known

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

T = TypeVar("T")


@dataclass(eq=False)
class Registry(Generic[T]):
    """The plug-ins of one kind, by name.

    Other packages add plug-ins by entry points in a group: the name of an entry point is the
    plug-in's, and its object is the plug-in.

    Attributes:
        kind: noun for a plug-in in messages, such as "source".
        package: package whose modules register the plug-ins; imported at the first look-up.
        group: group of the entry points, such as "medsim.sources"; none by default.
        entry_type: class of the plug-ins of a group.
        named_as_modules: whether each module of the package registers one plug-in, with the
            module's name and "-" for "_". Then ``names`` imports no module.
    """

    kind: str
    package: str
    _: KW_ONLY
    group: str = ""
    entry_type: type[T] | None = None
    named_as_modules: bool = False
    _entries: dict[str, T] = field(default_factory=dict, init=False)
    _discovered: bool = field(default=False, init=False)

    def register(self, name: str, entry: T) -> T:
        """Register ``entry`` under ``name``, and return it."""
        if name in self._entries:
            message = f"two plug-ins of kind {self.kind} are named {name!r}"
            raise ValueError(message)
        self._entries[name] = entry
        return entry

    def all(self) -> dict[str, T]:
        """Return all plug-ins by name, sorted by name.

        Raises:
            OptionError: an entry point of another package cannot be used.
        """
        if not self._discovered:
            for module in self._modules():
                importlib.import_module(f"{self.package}.{module}")
            added: dict[str, T] = {}
            for point in self._entry_points():
                added[point.name] = self._loaded(point, {*self._entries, *added})
            self._entries |= added
            self._discovered = True
        return dict(sorted(self._entries.items()))

    def names(self) -> list[str]:
        """Return the names of all plug-ins, sorted."""
        if not self.named_as_modules:
            return list(self.all())
        own = (module.replace("_", "-") for module in self._modules())
        return sorted({*own, *self._entry_points().names})

    def get(self, name: str) -> T:
        """Return the plug-in named ``name``."""
        entries = self.all()
        check_known(self.kind, entries, name)
        return entries[name]

    def _modules(self) -> list[str]:
        package = importlib.import_module(self.package)
        return sorted(module.name for module in pkgutil.iter_modules(package.__path__))

    def _entry_points(self) -> EntryPoints:
        from importlib.metadata import entry_points  # noqa: PLC0415 — takes long to import

        return entry_points(group=self.group)  # none has an empty group

    def _loaded(self, point: EntryPoint, taken: set[str]) -> T:
        """Return the plug-in of an entry point; raise OptionError if it cannot be used."""
        package = point.dist.name if point.dist else point.module
        adds = f"the package {package} adds the {self.kind} {point.name!r}"
        remedy = "update or uninstall it"
        if point.name in taken:
            raise OptionError(f"{adds}, but another {self.kind} has this name; {remedy}")
        try:
            entry = point.load()
        except Exception as error:  # the package may raise anything
            from traceback import format_exception_only  # noqa: PLC0415 — only for this message

            fault = f"cannot be loaded ({format_exception_only(error)[-1].strip()})"
            raise OptionError(f"{adds}, but {point.value} {fault}; {remedy}") from error
        if self.entry_type is not None and not isinstance(entry, self.entry_type):
            fault = f"is of the class {type(entry).__name__}, not {self.entry_type.__name__}"
            raise OptionError(f"{adds}, but {point.value} {fault}; {remedy}")
        if (name := getattr(entry, "name", point.name)) != point.name:
            raise OptionError(f"{adds}, but {point.value} is named {name!r}; {remedy}")
        return cast("T", entry)


class RegisteredNames(Iterable[str]):
    """The names in a registry, which is imported when they are first read.

    Args:
        module: module of the registry.
        registry: name of the registry in the module.
    """

    def __init__(self, module: str, registry: str) -> None:
        self._module = module
        self._registry = registry

    def __iter__(self) -> Iterator[str]:
        registry: Registry[object] = getattr(importlib.import_module(self._module), self._registry)
        return iter(registry.names())
