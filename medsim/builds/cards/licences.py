"""The licence of a terminology, as Hugging Face's hub names it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OTHER = "other"
"""The hub's identifier of licences that it has no identifier for."""

_ON_THE_HUB = {
    "cc0": ("1.0",),
    "cc-by": ("2.0", "2.5", "3.0", "4.0"),
    "cc-by-sa": ("3.0", "4.0"),
    "cc-by-nc": ("2.0", "3.0", "4.0"),
    "cc-by-nc-sa": ("2.0", "3.0", "4.0"),
    "cc-by-nd": ("4.0",),
    "cc-by-nc-nd": ("3.0", "4.0"),
}
_COMMONS = re.compile(
    r"creativecommons\.org/(?:licenses|publicdomain)/(?P<of_link>[a-z-]+)/(?P<link_version>\d\.\d)"
    r"|\bcc[ -]?(?P<of_words>0|by(?:-[a-z]{2})*)[ -](?P<version>\d\.\d)",
    re.IGNORECASE,
)
_LINK = re.compile(r"https?://[^\s;,<>\"]+[^\s;,<>\".]")
_NOT_IN_NAME = re.compile(r"[^a-z0-9.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """The licence of a terminology.

    Attributes:
        terms: of use, in words.
        hub_id: the hub's identifier, ``OTHER`` where it has none.
        name: an identifier of its own where the hub has none.
        link: where it can be read; None where that is not known.
        allows_passing_on: whether datasets made of the content may be passed on; None where that
            is not known.
    """

    terms: str
    hub_id: str
    name: str
    link: str | None
    allows_passing_on: bool | None

    def metadata(self) -> dict[str, object]:
        """Return the entries of a card's YAML."""
        if self.hub_id != OTHER:
            return {"license": self.hub_id}
        link = {} if self.link is None else {"license_link": self.link}
        return {"license": OTHER, "license_name": self.name, **link}


def licence_of(source: Mapping[str, object]) -> Licence:
    """Return the licence of the source of a manifest.

    Where the manifest does not know whether the content may be passed on, but its terms name a
    licence of Creative Commons under which what is made of it may be, it may.
    """
    terms = str(source.get("terms_of_use") or "")
    hub_id, link = _commons_id(terms) or OTHER, _LINK.search(terms)
    known = source.get("redistributable")
    if known is None and hub_id != OTHER and "-nd" not in hub_id:
        known = True
    name = _NOT_IN_NAME.sub("-", str(source.get("name")).lower()).strip("-.")
    return Licence(
        terms=terms,
        hub_id=hub_id,
        name=f"{name}-terms-of-use".lstrip("-"),
        link=link[0] if link else None,
        allows_passing_on=known if isinstance(known, bool) else None,
    )


def _commons_id(terms: str) -> str | None:
    """Return the hub's identifier of the licence of Creative Commons that terms name."""
    found = _COMMONS.search(terms)
    if found is None:
        return None
    kind = (found["of_link"] or found["of_words"]).lower()
    version = found["link_version"] or found["version"]
    family = "cc0" if kind in {"zero", "0"} else f"cc-{kind}"
    return f"{family}-{version}" if version in _ON_THE_HUB.get(family, ()) else None
