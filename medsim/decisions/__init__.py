"""Decisions of people on names and pairs of names, kept in one plain CSV."""

from __future__ import annotations

from collections.abc import Mapping

from medsim.core.options import input_option

DECIDED_ON = ("subject_id", "subject_label", "object_id", "object_label")
"""The columns that say what a decision is on."""

PREDICATES: Mapping[str, str] = {
    "exact": "skos:exactMatch",
    "broader": "skos:broadMatch",
    "narrower": "skos:narrowMatch",
    "related": "skos:relatedMatch",
}
"""The decisions that relate the object to the subject, with the predicate of a mapping."""

DECISIONS = (*PREDICATES, "different", "no_match", "fix", "keep")
"""All decisions."""

DECISIONS_OPTION = input_option(
    "CSV or .xlsx of decisions, such as the report page saves. What is decided is not "
    "asked again. Repeat it for several.",
    ("--decisions",),
    metavar="FILE",
)
"""The declaration of files of decisions."""
