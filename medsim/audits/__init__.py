"""Audits of a terminology's names: near-duplicates, shared names, malformed names, chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from medsim.core.data import toml_of


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding.

    Attributes:
        group: the kinds that are searched for together.
        severity: how bad a finding is, one of ``SEVERITIES``.
        means: what a finding shows, in one sentence.
    """

    group: str
    severity: str
    means: str


_DECLARED = toml_of(__package__, "kinds.toml")

SEVERITIES: Mapping[str, str] = _DECLARED["severities"]
"""What the severities mean, from the gravest."""

CHOICES: Mapping[str, Mapping[str, str]] = _DECLARED["choices"]
"""The labels of decisions on findings on two concepts, and on names."""

JUDGED_AS: Mapping[str, str] = _DECLARED["corrections"]
"""What decisions say of two names, for corrections of a build."""

QUERIES: Mapping[str, Sequence[str]] = _DECLARED["queries"]
"""The queries of ``sql/audits`` by the group whose kinds they find."""

KINDS: Mapping[str, FindingKind] = {
    name: FindingKind(**kind) for name, kind in _DECLARED["kinds"].items()
}
"""All kinds of findings by name, in the order of findings of the same severity."""
