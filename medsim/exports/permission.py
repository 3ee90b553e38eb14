"""The licence of what is exported: whether an export to be published may be made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.builds.cards import licence_of
from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_passed_on(source: Mapping[str, object], *, private: bool) -> None:
    """Raise OptionError for content that may not be passed on, unless it is kept private."""
    licence = licence_of(source)
    if licence.allows_passing_on or private:
        return
    fault = "may not be passed on"
    if licence.allows_passing_on is None:
        fault = "is not known to be free to pass on"
    raise OptionError(
        f"{source.get('name')} {fault} ({licence.terms}); add `private` for a folder that you "
        "keep to yourself"
    )
