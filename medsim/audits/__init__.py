"""Audits of a terminology's names: near-duplicates, shared names, malformed names, chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from medsim.core.data import toml_of

_DECLARED = toml_of(__package__, "kinds.toml")

SEVERITIES: Mapping[str, str] = _DECLARED["severities"]
"""What the severities mean, from the gravest."""

CHOICES: Mapping[str, Mapping[str, str]] = _DECLARED["choices"]
"""The labels of decisions on findings on two concepts, and on names."""

JUDGED_AS: Mapping[str, str] = _DECLARED["corrections"]
"""What decisions say of two names, for corrections of a build."""

QUERIES: Mapping[str, Sequence[str]] = _DECLARED["queries"]
"""The queries of ``sql/audits`` by the group whose kinds they find."""

KINDS: Mapping[str, Mapping[str, str]] = _DECLARED["kinds"]
"""All kinds of findings by name, in the order of findings of the same severity.

``group`` names the kinds that are searched for together, ``severity`` is one of ``SEVERITIES``, and
``means`` says what a finding shows, in one sentence.
"""
