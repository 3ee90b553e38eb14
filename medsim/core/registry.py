"""Named plug-ins: registered once, found by name, with suggestions for misspelt names."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Generic, TypeVar

from medsim.core.errors import OptionError, unknown_name

T = TypeVar("T")


class Registry(Generic[T]):
    """The plug-ins of one kind, by name.

    Args:
        kind: noun for a plug-in in messages, such as "source".
        package: package whose modules register the plug-ins; imported at the first look-up.
    """

    def __init__(self, kind: str, package: str) -> None:
        self._kind = kind
        self._package = package
        self._entries: dict[str, T] = {}
        self._discovered = False

    def register(self, name: str, entry: T) -> T:
        """Register ``entry`` under ``name``, and return it."""
        if name in self._entries:
            message = f"two plug-ins of kind {self._kind} are named {name!r}"
            raise ValueError(message)
        self._entries[name] = entry
        return entry

    def all(self) -> dict[str, T]:
        """Return all plug-ins by name, sorted by name."""
        if not self._discovered:
            package = importlib.import_module(self._package)
            for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
                importlib.import_module(f"{self._package}.{module}")
            self._discovered = True
        return dict(sorted(self._entries.items()))

    def get(self, name: str) -> T:
        """Return the plug-in named ``name``."""
        entries = self.all()
        if name not in entries:
            raise OptionError(unknown_name(self._kind, name, list(entries)))
        return entries[name]
