"""Help of commands and groups of commands: whole sentences, in panels by what one wants."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar

from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
"""The settings of a context by which every command has help."""

_LONGEST_METAVAR = 64  # more choices stand in the text of help


class HelpedGroup(TyperGroup):
    """A group of commands whose help lists them in panels, each with its first sentence."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The names of the commands of each panel; those of none are under "Commands"."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the panels of commands."""
        known = dict.fromkeys(self.list_commands(ctx))
        placed = {name for names in self.panels.values() for name in names}
        others = [name for name in known if name not in placed]
        width = max(map(len, known))
        for title, names in {**self.panels, "Commands": others}.items():
            if names:
                with formatter.section(title):
                    rows = [(name.ljust(width), self._sentence(ctx, name)) for name in names]
                    formatter.write_dl(rows)

    def _sentence(self, ctx: Any, name: str) -> str:
        command = self.get_command(ctx, name)
        text = inspect.cleandoc((command and command.help) or "")
        return " ".join(text.partition("\n\n")[0].split())


def choices_shown(choices: Sequence[str], *, several: bool) -> tuple[str | None, str]:
    """Return what help shows of choices: a name of the value, and a sentence where that is long."""
    if not choices:
        return None, ""
    metavar = f"<{'|'.join(choices)}>{',...' if several else ''}"
    if len(metavar) <= _LONGEST_METAVAR:
        return metavar, ""
    return None, f" One of {', '.join(choices)}."


def completed(choices: Sequence[str]) -> Callable[[str], list[str]] | None:
    """Return the function by which a shell completes choices; None of anything else."""
    if not choices:
        return None
    return lambda incomplete: [one for one in choices if one.startswith(incomplete)]
